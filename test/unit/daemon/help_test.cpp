#include <catch2/catch.hpp>

#include <mtdfuse/daemon.hpp>

#include "option_table.hpp"

using namespace mtdfuse;
using Catch::Matchers::Contains;

TEST_CASE("--help and --version need nothing else, and win over a bad value") {
    for (const char* word : {"-h", "--help"}) {
        for (const auto& words :
             {std::vector<std::string>{word}, std::vector<std::string>{word, "--size", "junk"}}) {
            const auto parsed = daemon::parse_command_line(words);
            REQUIRE(parsed);
            CHECK_FALSE(parsed->options);
            CHECK(parsed->text == daemon::help_text());
        }
    }
    for (const char* word : {"-V", "--version"}) {
        const auto parsed = daemon::parse_command_line({word});
        REQUIRE(parsed);
        CHECK_THAT(parsed->text, Catch::Matchers::Matches("mtdfuse [0-9]+\\.[0-9]+\\.[0-9]+\n"));
    }
}

TEST_CASE("--help lists every option once, with its default, within 100 columns") {
    const std::string help = daemon::help_text();
    std::size_t start = help.find("Options:\n") + 9;
    for (const daemon::OptionRow& row : daemon::option_table()) {
        const std::size_t end = help.find('\n', start);
        const std::string line = help.substr(start, end - start);
        start = end + 1;
        CAPTURE(line);
        CHECK(line.size() <= 100);
        CHECK(line.substr(0, 2) == "  ");
        if (!row.long_name.empty())
            CHECK_THAT(line, Contains("--" + std::string(row.long_name)));
        if (row.short_name)
            CHECK_THAT(line, Contains(std::string("  -") + row.short_name));
        if (row.short_name != 'h' && row.short_name != 'V')
            CHECK_THAT(line, Contains("(default: "));
        CHECK(line.find("  ", line.find_first_not_of(' ')) != std::string::npos);
    }
}
