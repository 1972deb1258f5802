// What mtdfuse-speedtest prints: a table for people, JSON for programs.
#pragma once

#include <string>
#include <vector>

#include <mtdfuse/base.hpp>

namespace mtdfuse::tools {

// The median time of one work at one folio size, and of its limit in the same run.
struct Row {
    std::string_view work;
    std::uint64_t folio_bytes;
    double milliseconds;
    double limit_milliseconds;
    std::string_view limit; // what was done for it
    [[nodiscard]] double ratio() const { return milliseconds / limit_milliseconds; }
};

// The same of a work between cache and file, and the system calls of one round: the limit's depend
// on the folio size, too.
struct BackingRow {
    std::string_view work, limit;
    std::uint64_t folio_bytes;
    double milliseconds, limit_milliseconds;
    std::uint64_t calls, limit_calls;
    [[nodiscard]] double ratio() const { return milliseconds / limit_milliseconds; }
};

struct Report {
    std::uint64_t size_bytes; // of a pass
    std::vector<Row> rows;
    std::vector<BackingRow> backing_rows; // empty: there was no file
};

// Rows of one work stand together, in the same order of folio sizes for each work.
[[nodiscard]] std::string table_text(const Report& report);

// {"v":1,"bytes":N,"rows":[{"work":"read_128k","folio":65536,"ms":x,"limit_ms":y,"ratio":z}]}; the
// backing's rows follow, each with "calls" and "limit_calls".
[[nodiscard]] std::string json_text(const Report& report);

} // namespace mtdfuse::tools
