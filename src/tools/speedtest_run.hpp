// A whole run of mtdfuse-speedtest: devices of several folio sizes and plain memory, work by work,
// round by round, so that all share whatever the machine is doing.
#pragma once

#include <vector>

#include "speedtest_report.hpp"

namespace mtdfuse::tools {

struct SpeedtestOptions {
    std::uint64_t size_bytes = 256 * kMiB; // a multiple of two erase blocks
    std::vector<std::uint64_t> folio_bytes{4096, 16384, 65536, 2097152};
    unsigned rounds = 5;
    // Empty: the device is memory only. Else a directory: each device is a nameless file in it,
    // behind a cache of the default size.
    std::string directory;
    std::string kernels;      // of the cache; empty for the best of this CPU
    bool engine_only = false; // the cache without chip and MTD core
};

// The medians of all rounds. Contents are checked after each pass, outside its time.
[[nodiscard]] Result<std::vector<Row>> run_speedtest(const SpeedtestOptions& options, Log& log);

} // namespace mtdfuse::tools
