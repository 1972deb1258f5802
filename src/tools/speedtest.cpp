// The command line of mtdfuse-speedtest.
#include <mtdfuse/tools.hpp>

#include <cerrno>
#include <iostream>

#include <CLI/CLI.hpp>
#include <fmt/format.h>

#include "speedtest_backing.hpp"
#include "speedtest_run.hpp"
#include "speedtest_works.hpp"

namespace mtdfuse::tools {

namespace {

constexpr int kExitFailure = 1;
constexpr int kExitUsage = 2;

// What CLI11 gathers before the values are looked at.
struct Words {
    std::string size = "256M";
    std::string folio_sizes = "4K,16K,64K,2M";
    unsigned rounds = 5;
    std::string directory;
    std::string kernels;
    bool engine = false;
    bool json = false;
    bool help = false;
    bool version = false;
};

void describe(CLI::App& app, Words& words) {
    app.set_help_flag();
    app.add_option("--size", words.size, "bytes of one pass, a multiple of 256K")
        ->capture_default_str();
    app.add_option("--folio-size", words.folio_sizes,
                   "folio sizes to compare, a comma between two: powers of two, 4K to 2M")
        ->capture_default_str();
    app.add_option("--rounds", words.rounds, "timed rounds, of which the median is shown")
        ->check(CLI::Range(1U, 1000U))
        ->capture_default_str();
    app.add_option("--directory", words.directory,
                   "put the device into a nameless file there, and time writeback and cold reads, "
                   "too");
    app.add_option("--kernels", words.kernels,
                   "copy and compare by plain, avx2 or avx512 instead of the CPU's best");
    app.add_flag("--engine", words.engine, "time the cache alone, without chip and MTD core");
    app.add_flag("--json", words.json, "print JSON instead of a table");
    app.add_flag("-V,--version", words.version, "print the version and leave");
    app.add_flag("-h,--help", words.help, "print this text and leave");
}

Result<SpeedtestOptions> read_values(const Words& words) {
    SpeedtestOptions options;
    const auto size_bytes = parse_size(words.size);
    if (!size_bytes)
        return fail(EINVAL, "--size: " + size_bytes.error().context);
    if (*size_bytes == 0 || *size_bytes % (2 * kEraseBlockBytes) != 0)
        return fail(EINVAL, fmt::format("--size: '{}' is no multiple of 256K", words.size));
    options.size_bytes = *size_bytes;
    options.folio_bytes.clear();
    std::string_view rest = words.folio_sizes;
    for (bool more = true; more;) {
        const std::size_t comma = rest.find(',');
        const auto folio_bytes = parse_size(rest.substr(0, comma));
        if (!folio_bytes)
            return fail(EINVAL, "--folio-size: " + folio_bytes.error().context);
        options.folio_bytes.push_back(*folio_bytes);
        more = comma != std::string_view::npos;
        rest.remove_prefix(more ? comma + 1 : 0);
    }
    options.rounds = words.rounds;
    options.directory = words.directory;
    options.kernels = words.kernels;
    options.engine_only = words.engine;
    return options;
}

int usage_error(const std::string& sentence) {
    std::cerr << "mtdfuse-speedtest: " << sentence << "\ntry 'mtdfuse-speedtest --help'\n";
    return kExitUsage;
}

// Severe messages of the rooms belong on the terminal; there is nothing else to log.
class TerminalLog final : public Log {
public:
    void write(Severity severity, std::string_view message) override {
        if (severity >= Severity::warning)
            std::cerr << "mtdfuse-speedtest: " << message << '\n';
    }
};

Status measure(const SpeedtestOptions& options, Log& log, Report& report) {
    report.size_bytes = options.size_bytes;
    auto rows = run_speedtest(options, log);
    if (!rows)
        return tl::make_unexpected(rows.error());
    report.rows = std::move(*rows);
    if (options.directory.empty())
        return {};
    auto backing_rows = run_backing_works(options, log);
    if (!backing_rows)
        return tl::make_unexpected(backing_rows.error());
    report.backing_rows = std::move(*backing_rows);
    return {};
}

} // namespace

int speedtest_main(const std::vector<std::string>& arguments) {
    CLI::App app{"Times the works of Linux's mtd_speedtest on a RAM-type MTD device, beside the "
                 "same work done by plain memory operations.",
                 "mtdfuse-speedtest"};
    Words words;
    describe(app, words);
    try {
        app.parse(std::vector<std::string>(arguments.rbegin(), arguments.rend()));
    } catch (const CLI::ParseError& error) {
        return usage_error(error.what());
    }
    if (words.help) {
        std::cout << app.help();
        return 0;
    }
    if (words.version) {
        std::cout << "mtdfuse-speedtest " << MTDFUSE_VERSION << '\n';
        return 0;
    }
    const auto options = read_values(words);
    if (!options)
        return usage_error(options.error().context);
    TerminalLog log;
    Report report{};
    const Status done = measure(*options, log, report);
    if (!done) {
        std::cerr << "mtdfuse-speedtest: " << done.error().context << '\n';
        return done.error().number == EINVAL ? kExitUsage : kExitFailure;
    }
    std::cout << (words.json ? json_text(report) : table_text(report));
    return 0;
}

} // namespace mtdfuse::tools
