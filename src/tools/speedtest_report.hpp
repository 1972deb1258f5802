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

// Rows of one work stand together, in the same order of folio sizes for each work.
[[nodiscard]] std::string table_text(const std::vector<Row>& rows, std::uint64_t bytes);

// {"v":1,"bytes":N,"rows":[{"work":"read_128k","folio":65536,"ms":x,"limit_ms":y,"ratio":z}]}
[[nodiscard]] std::string json_text(const std::vector<Row>& rows, std::uint64_t bytes);

} // namespace mtdfuse::tools
