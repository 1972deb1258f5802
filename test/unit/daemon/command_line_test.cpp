#include <catch2/catch.hpp>

#include <cerrno>

#include <mtdfuse/daemon.hpp>

using namespace mtdfuse;
using daemon::Options;
using daemon::parse_command_line;
using Words = std::vector<std::string>;
using Catch::Matchers::Contains;
using Catch::Matchers::StartsWith;

namespace {

Words with_operands(Words words) {
    words.insert(words.end(), {"img", "mnt"});
    return words;
}

Options options_of(const Words& words) {
    auto parsed = parse_command_line(words);
    INFO((parsed ? "" : parsed.error().context));
    REQUIRE(parsed);
    REQUIRE(parsed->options);
    return *parsed->options;
}

std::string refusal_of(const Words& words) {
    const auto parsed = parse_command_line(words);
    REQUIRE_FALSE(parsed);
    CHECK(parsed.error().number == EINVAL);
    CHECK(parsed.error().context.find('\n') == std::string::npos);
    return parsed.error().context;
}

} // namespace

TEST_CASE("without options the defaults of the manual hold") {
    const Options options = options_of({"img", "mnt"});
    CHECK(options.image == "img");
    CHECK(options.mount_point == "mnt");
    CHECK(options.type == chip::Type::ram);
    CHECK_FALSE(options.erasesize_bytes);
    CHECK_FALSE(options.size_bytes);
    CHECK_FALSE(options.name);
    CHECK_FALSE(options.cache_bytes);
    CHECK_FALSE(options.log_file);
    CHECK(options.folio_bytes == 65536);
    CHECK(options.policy == cache::Policy::writeback);
    CHECK_FALSE((options.read_only || options.force || options.foreground || options.debug ||
                 options.single_thread || options.allow_other));
    CHECK(options.kernel_words.empty());
}

TEST_CASE("every option is understood as option, joined and as mount word") {
    const auto row = GENERATE(table<std::string, std::string>({{"type", "ram"},
                                                               {"erasesize", "64K"},
                                                               {"size", "1M"},
                                                               {"name", "boot"},
                                                               {"folio-size", "4K"},
                                                               {"cache-size", "2M"},
                                                               {"cache", "writethrough"},
                                                               {"log", "/tmp/l"}}));
    const std::string name = std::get<0>(row), value = std::get<1>(row);
    const auto words =
        GENERATE_COPY(Words{"--" + name, value}, Words{"--" + name + "=" + value},
                      Words{"-o", name + "=" + value}, Words{"-orw," + name + "=" + value});
    CAPTURE(words);
    const Options options = options_of(with_operands(words));
    CHECK(options.erasesize_bytes.value_or(1) == (name == "erasesize" ? 65536 : 1));
    CHECK(options.size_bytes.value_or(1) == (name == "size" ? 1048576 : 1));
    CHECK(options.name.value_or("") == (name == "name" ? "boot" : ""));
    CHECK(options.folio_bytes == (name == "folio-size" ? 4096 : 65536));
    CHECK(options.cache_bytes.value_or(1) == (name == "cache-size" ? 2097152 : 1));
    CHECK((options.policy == cache::Policy::writethrough) == (name == "cache"));
    CHECK(options.log_file.value_or("") == (name == "log" ? "/tmp/l" : ""));
}

TEST_CASE("flags, alone and together") {
    CHECK(options_of({"--ro", "img", "mnt"}).read_only);
    CHECK(options_of({"img", "mnt", "-o", "ro"}).read_only);
    CHECK(options_of({"img", "--force", "mnt"}).force);
    CHECK(options_of({"-o", "force", "img", "mnt"}).force);
    const Options cluster = options_of({"-fs", "img", "mnt"});
    CHECK(cluster.foreground);
    CHECK(cluster.single_thread);
    CHECK_FALSE(cluster.debug);
    const Options debug = options_of({"-d", "img", "mnt"});
    CHECK(debug.debug);
    CHECK(debug.foreground);
    const Options both = options_of({"-o", "ro,erasesize=64K", "img", "mnt", "-o", "name=x"});
    CHECK(both.read_only);
    CHECK(both.erasesize_bytes == 65536U);
    CHECK(both.name == "x");
    CHECK(options_of({"-f", "-d", "img", "mnt"}).debug);
}

TEST_CASE("operands") {
    CHECK(options_of({"--", "-img", "[mnt]"}).image == "-img");
    CHECK(options_of({"--ro", "--", "-img", "[mnt]"}).mount_point == "[mnt]");
    CHECK(options_of({"[a,b]", "{}"}).image == "[a,b]");
    CHECK_THAT(refusal_of({}), StartsWith("IMAGE and MOUNTPOINT are missing"));
    CHECK_THAT(refusal_of({"img"}), StartsWith("MOUNTPOINT is missing after IMAGE 'img'"));
    CHECK_THAT(refusal_of({"img", "mnt", "third"}), StartsWith("'third' is one operand too many"));
    CHECK_THAT(refusal_of({"", "mnt"}), StartsWith("IMAGE is empty"));
    CHECK_THAT(refusal_of({"img", ""}), StartsWith("MOUNTPOINT is empty"));
}

TEST_CASE("sizes in all four spellings") {
    const auto size = GENERATE("131072", "128K", "128KiB", "0x20000");
    CHECK(options_of(with_operands({"--erasesize", size})).erasesize_bytes == 131072U);
    CHECK(options_of(with_operands({"--size", size})).size_bytes == 131072U);
    CHECK(options_of(with_operands({"--folio-size", size})).folio_bytes == 131072U);
    CHECK(options_of(with_operands({"--cache-size", size})).cache_bytes == 131072U);
}

TEST_CASE("what is unknown is named first") {
    const auto [words, unknown] = GENERATE(table<Words, std::string>({
        {{"--bogus"}, "unknown option --bogus"},
        {{"--bogus=3"}, "unknown option --bogus"},
        {{"-x"}, "unknown option -x"},
        {{"-fx"}, "unknown option -x"},
        {{"--bogus", "--size"}, "unknown option --bogus"},
        {{"--bogus", "--size="}, "unknown option --bogus"},
        {{"--size", "junk", "--bogus"}, "unknown option --bogus"},
        {{"--ro", "--ro", "--bogus"}, "unknown option --bogus"},
        {{"--help", "--bogus"}, "unknown option --bogus"},
        {{"--chip", "w25q128", "none", "mnt"}, "unknown option --chip"},
        {{"--badblocks", "3"}, "unknown option --badblocks"},
        {{"--oob", "inline"}, "unknown option --oob"},
        {{"--meta", "x"}, "unknown option --meta"},
        {{"--strict"}, "unknown option --strict"},
        {{"-o", "bogus"}, "unknown mount word 'bogus' in -o"},
        {{"-o", "ro,bogus=1", "--size", "junk"}, "unknown mount word 'bogus=1' in -o"},
        {{"-o", "chip=w25q128"}, "unknown mount word 'chip=w25q128' in -o"},
        {{"-o", "help"}, "unknown mount word 'help' in -o"},
        {{"-o", "noexec=1"}, "unknown mount word 'noexec=1' in -o"},
    }));
    CHECK(refusal_of(words) == unknown);
}

TEST_CASE("doubled options are refused") {
    const auto [words, message] = GENERATE(table<Words, std::string>({
        {{"--type", "ram", "--type", "ram"}, "option --type is given twice: give it once"},
        {{"--erasesize=64K", "--erasesize=64K"}, "option --erasesize is given twice: give it once"},
        {{"--size", "1M", "--size", "1M"}, "option --size is given twice: give it once"},
        {{"--name", "a", "--name", "b"}, "option --name is given twice: give it once"},
        {{"--ro", "--ro"}, "option --ro is given twice: give it once"},
        {{"--folio-size", "4K", "--folio-size", "4K"},
         "option --folio-size is given twice: give it once"},
        {{"--cache-size", "1M", "--cache-size", "1M"},
         "option --cache-size is given twice: give it once"},
        {{"--cache", "writeback", "--cache", "writeback"},
         "option --cache is given twice: give it once"},
        {{"--force", "--force"}, "option --force is given twice: give it once"},
        {{"--log", "a", "--log", "a"}, "option --log is given twice: give it once"},
        {{"-f", "-f"}, "option -f is given twice: give it once"},
        {{"-ff"}, "option -f is given twice: give it once"},
        {{"-dd"}, "option -d is given twice: give it once"},
        {{"-ss"}, "option -s is given twice: give it once"},
        {{"--ro", "-o", "ro"}, "option --ro is given twice, also as -o ro: give it once"},
        {{"-o", "size=1M", "-o", "size=1M"}, "option -o size is given twice: give it once"},
    }));
    CHECK(refusal_of(with_operands(words)) == message);
}

TEST_CASE("a missing or an empty value is refused") {
    const std::string name =
        GENERATE("type", "erasesize", "size", "name", "folio-size", "cache-size", "cache", "log");
    const auto words = GENERATE_COPY(
        Words{"img", "mnt", "--" + name}, Words{"--" + name + "=", "img", "mnt"},
        Words{"--" + name, "", "img", "mnt"}, Words{"--" + name, "--ro", "img", "mnt"},
        Words{"--" + name, "-f", "img", "mnt"});
    CAPTURE(words);
    CHECK_THAT(refusal_of(words), StartsWith("option --" + name + " needs a value: --" + name));
    for (const std::string& word : {name, name + "="})
        CHECK_THAT(refusal_of({"-o", word, "img", "mnt"}),
                   StartsWith("option -o " + name + " needs a value: -o " + name + "="));
}

TEST_CASE("-o without words, flags with a value") {
    CHECK_THAT(refusal_of({"img", "mnt", "-o"}), StartsWith("option -o needs a value"));
    CHECK_THAT(refusal_of({"-o", "", "img", "mnt"}), StartsWith("option -o needs a value"));
    CHECK(refusal_of({"--ro=true", "img", "mnt"}) ==
          "option --ro takes no value, but 'true' was given");
    CHECK(refusal_of({"-o", "force=1", "img", "mnt"}) ==
          "option -o force takes no value, but '1' was given");
}

TEST_CASE("values out of range are refused with the range") {
    const auto [name, value, rule] = GENERATE(table<std::string, std::string, std::string>({
        {"type", "nor", "ram"},
        {"type", "RAM", "ram"},
        {"erasesize", "255", "256 to 1G"},
        {"erasesize", "1073741825", "256 to 1G"},
        {"erasesize", "0", "256 to 1G"},
        {"erasesize", "-1", "no size"},
        {"erasesize", "64k", "no size"},
        {"size", "0", "at least one erase block"},
        {"size", "1.5M", "no size"},
        {"size", "99999999999999999999", "too large"},
        {"name", "a\"b", "quote"},
        {"name", "a\nb", "newline"},
        {"name", std::string(128, 'x'), "127"},
        {"folio-size", "2K", "4K to 2M"},
        {"folio-size", "4M", "4K to 2M"},
        {"folio-size", "12K", "8K and 16K are the nearest"},
        {"folio-size", "big", "no size"},
        {"cache-size", "big", "no size"},
        {"cache-size", "0", "less than one folio of 64K"},
        {"cache-size", "65535", "less than one folio of 64K"},
        {"cache", "none", "writeback or writethrough"},
    }));
    CAPTURE(name, value);
    const auto as_option = parse_command_line({"--" + name, value, "img", "mnt"});
    REQUIRE_FALSE(as_option);
    CHECK_THAT(as_option.error().context, Contains(name) && Contains(rule));
    const auto as_word = parse_command_line({"-o", name + "=" + value, "img", "mnt"});
    REQUIRE_FALSE(as_word);
    CHECK_THAT(as_word.error().context, Contains(name) && Contains(rule));
}

TEST_CASE("values at the ends of their ranges are taken") {
    CHECK(options_of(with_operands({"--erasesize", "256"})).erasesize_bytes == 256U);
    CHECK(options_of(with_operands({"--erasesize", "1G"})).erasesize_bytes == 1U << 30);
    CHECK(options_of(with_operands({"--folio-size", "4K"})).folio_bytes == 4096U);
    CHECK(options_of(with_operands({"--folio-size", "2M"})).folio_bytes == 2U << 20);
    CHECK(options_of(with_operands({"--cache-size", "64K"})).cache_bytes == 65536U);
    CHECK(options_of({"--cache-size", "4K", "--folio-size", "4K", "i", "m"}).cache_bytes == 4096U);
    CHECK(options_of(with_operands({"--name", std::string(127, 'x')})).name->size() == 127);
}

TEST_CASE("memory needs a size, and sizes fit the erase blocks") {
    CHECK_THAT(refusal_of({"none", "mnt"}), StartsWith("IMAGE 'none' has no size of its own"));
    CHECK(options_of({"none", "mnt", "--size", "1T"}).size_bytes == 1ULL << 40);
    CHECK(options_of({"./none", "mnt"}).image == "./none");
    CHECK_THAT(refusal_of({"none", "mnt", "--size", "100000"}),
               Contains("100000") && Contains("use 128K"));
    CHECK_THAT(refusal_of({"img", "mnt", "--size", "128K", "--erasesize", "96K"}),
               Contains("erasesize"));
    CHECK(options_of({"img", "mnt", "--size", "192K", "--erasesize", "96K"}).size_bytes == 196608U);
}

TEST_CASE("partitions are given as an option or, with + for a comma, as a mount word") {
    for (const Words& words : {Words{"img", "mnt", "--parts", "64K(a),-(b)ro"},
                               Words{"img", "mnt", "-o", "ro,parts=64K(a)+-(b)ro"}}) {
        const Options options = options_of(words);
        REQUIRE(options.partitions.size() == 2);
        CHECK(options.partitions[0].name == "a");
        CHECK(options.partitions[1].read_only);
    }
    CHECK(options_of({"img", "mnt"}).partitions.empty());
    CHECK_THAT(refusal_of({"img", "mnt", "--parts", "64K(a"}),
               StartsWith("--parts: '(a' has no closing parenthesis") && Contains("(rootfs)"));
    CHECK_THAT(refusal_of({"img", "mnt", "-o", "parts=64K(a),-(b)"}),
               Contains("-(b)")); // a comma ends the word
    CHECK_THAT(refusal_of({"img", "mnt", "--parts", "-", "--name", "x"}),
               Contains("name the partitions in --parts"));
    for (const char* bad : {"64K(a),", "64K(a)rw", "0(a)", "64K(a),,-(b)", "nonsense"}) {
        CHECK_THAT(refusal_of({"img", "mnt", "--parts", bad}), StartsWith("--parts: "));
    }
    for (const char* bad : {"parts=64K+", "parts=64K(a)rw", "parts=-+64K"}) {
        CHECK_THAT(refusal_of({"img", "mnt", "-o", bad}), StartsWith("-o parts: "));
    }
    CHECK_THAT(refusal_of({"img", "mnt", "--parts", ""}), StartsWith("option --parts needs"));
    CHECK_THAT(refusal_of({"img", "mnt", "--parts="}), StartsWith("option --parts needs"));
    CHECK_THAT(refusal_of({"img", "mnt", "--parts", "-", "--parts", "-"}), Contains("twice"));
}

TEST_CASE("partitions that do not fit --size are a wrong command line") {
    CHECK(options_of({"none", "mnt", "--size", "1M", "--parts", "128K,-"}).partitions.size() == 2);
    CHECK_THAT(refusal_of({"none", "mnt", "--size", "1M", "--parts", "2M(a)"}),
               StartsWith("--parts: partition \"a\"") && Contains("room for 1M"));
    CHECK_THAT(refusal_of({"none", "mnt", "--size", "1M", "--parts", "64K(a)"}),
               Contains("smaller than one erase block") && Contains("128K"));
    // An image's own size is not known here.
    CHECK(options_of({"img", "mnt", "--parts", "2M(a)"}).partitions.size() == 1);
}

TEST_CASE("the words of mount(8) and fstab are accepted") {
    const Options options = options_of(
        {"img", "mnt", "-o",
         "rw,dev,nodev,suid,nosuid,exec,noexec,atime,noatime,relatime,norelatime,diratime,"
         "nodiratime,sync,async,auto,noauto,user,user=me,nouser,users,owner,group,_netdev,nofail,"
         "defaults,x-systemd.automount,x-gvfs-hide,comment=any thing"});
    CHECK(options.kernel_words == Words{"exec", "noexec", "atime", "noatime", "sync", "async"});
    CHECK_FALSE(options.read_only);
    CHECK_FALSE(options.allow_other);
    CHECK(options_of({"img", "mnt", "-o", "defaults,allow_other"}).allow_other);
    CHECK(options_of({"img", "mnt", "-o", "defaults,,ro,"}).read_only);
    CHECK(refusal_of({"img", "mnt", "-o", "rw,ro"}) ==
          "ro and rw contradict each other: give one of them");
    CHECK(refusal_of({"img", "mnt", "-o", "rw", "--ro"}) ==
          "ro and rw contradict each other: give one of them");
}
