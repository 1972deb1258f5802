#include "speedtest_report.hpp"

#include <fmt/format.h>

namespace mtdfuse::tools {

namespace {

std::string header(const std::vector<Row>& rows) {
    std::string line = fmt::format("{:<18}{:>17}", "work", "limit");
    for (const Row& row : rows) {
        if (row.work != rows.front().work)
            break;
        line += fmt::format("{:>16}", format_size(row.folio_bytes));
    }
    return line;
}

} // namespace

std::string table_text(const std::vector<Row>& rows, std::uint64_t bytes) {
    std::string text = fmt::format(
        "milliseconds for one pass over {}, by folio size (times the limit)\n", format_size(bytes));
    if (rows.empty())
        return text;
    text += header(rows);
    std::string_view work;
    for (const Row& row : rows) {
        if (row.work != work)
            text +=
                fmt::format("\n{:<18}{:>8}{:>9.2f}", row.work, row.limit, row.limit_milliseconds);
        work = row.work;
        text += fmt::format("{:>9.2f} ({:.2f})", row.milliseconds, row.ratio());
    }
    return text + "\n";
}

std::string json_text(const std::vector<Row>& rows, std::uint64_t bytes) {
    std::string text = fmt::format(R"({{"v":1,"bytes":{},"rows":[)", bytes);
    std::string_view separator;
    for (const Row& row : rows) {
        text += fmt::format(R"({}{{"work":"{}","folio":{},"ms":{:.3f},"limit_ms":{:.3f},)"
                            R"("ratio":{:.3f}}})",
                            separator, row.work, row.folio_bytes, row.milliseconds,
                            row.limit_milliseconds, row.ratio());
        separator = ",";
    }
    return text + "]}\n";
}

} // namespace mtdfuse::tools
