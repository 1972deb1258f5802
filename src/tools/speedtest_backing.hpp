// The works between the cache and a file: writeback of folios that became dirty in random order,
// and cold sequential reads.
#pragma once

#include "speedtest_report.hpp"
#include "speedtest_run.hpp"

namespace mtdfuse::tools {

// For each folio size of `options` the medians of
//   writeback_random  all folios dirty in random order, until they are on stable storage; beside it
//                     one pwrite for each in that order, then fdatasync
//   cold_read         everything read in pieces of 128 KiB, with nothing in the cache nor in the
//                     kernel's; beside it read(2) of 1 MiB, as dd does it
// and the system calls of one round. `options.directory` names where the files are. Contents are
// checked after each round, outside its time.
[[nodiscard]] Result<std::vector<BackingRow>> run_backing_works(const SpeedtestOptions& options,
                                                                Log& log);

} // namespace mtdfuse::tools
