#include "speedtest_report.hpp"

#include <fmt/format.h>

namespace mtdfuse::tools {

namespace {

constexpr int kWidth = 16; // of a column
constexpr int kBackingWidth = 25;

std::string work_and_limit(std::string_view work, std::string_view limit) {
    return fmt::format("{:<18}{:>8}", work, limit);
}

// A line for each work, a column for each folio size. `begin` writes what stands left of them.
template<class AnyRow, class Begin, class Cell>
std::string table(const std::vector<AnyRow>& rows, std::string header, int width, Begin begin,
                  Cell cell) {
    for (const AnyRow& row : rows) {
        if (row.work != rows.front().work)
            break;
        header += fmt::format("{:>{}}", format_size(row.folio_bytes), width);
    }
    std::string text = std::move(header);
    std::string_view work;
    for (const AnyRow& row : rows) {
        if (row.work != work)
            text += "\n" + begin(row);
        work = row.work;
        text += fmt::format("{:>{}}", cell(row), width);
    }
    return text + "\n";
}

} // namespace

std::string table_text(const Report& report) {
    std::string text =
        fmt::format("milliseconds for one pass over {}, by folio size (times the limit)\n",
                    format_size(report.size_bytes));
    text += table(
        report.rows, fmt::format("{:<18}{:>17}", "work", "limit"), kWidth,
        [](const Row& row) {
            return work_and_limit(row.work, row.limit) +
                   fmt::format("{:>9.2f}", row.limit_milliseconds);
        },
        [](const Row& row) {
            return fmt::format("{:.2f} ({:.2f})", row.milliseconds, row.ratio());
        });
    if (report.backing_rows.empty())
        return text;
    text += "\nthe same between cache and file: milliseconds / the limit's (times the limit)\n";
    text += table(
        report.backing_rows, work_and_limit("work", "limit"), kBackingWidth,
        [](const BackingRow& row) { return work_and_limit(row.work, row.limit); },
        [](const BackingRow& row) {
            return fmt::format("{:.1f} / {:.1f} ({:.2f})", row.milliseconds, row.limit_milliseconds,
                               row.ratio());
        });
    text += "\nsystem calls for it / the limit's\n";
    text += table(
        report.backing_rows, work_and_limit("work", "limit"), kBackingWidth,
        [](const BackingRow& row) { return work_and_limit(row.work, row.limit); },
        [](const BackingRow& row) { return fmt::format("{} / {}", row.calls, row.limit_calls); });
    return text;
}

std::string json_text(const Report& report) {
    std::string text = fmt::format(R"({{"v":1,"bytes":{},"rows":[)", report.size_bytes);
    std::string_view separator;
    const auto add = [&](const auto& row, const std::string& more) {
        text += fmt::format(R"({}{{"work":"{}","folio":{},"ms":{:.3f},"limit_ms":{:.3f},)"
                            R"("ratio":{:.3f}{}}})",
                            separator, row.work, row.folio_bytes, row.milliseconds,
                            row.limit_milliseconds, row.ratio(), more);
        separator = ",";
    };
    for (const Row& row : report.rows)
        add(row, "");
    for (const BackingRow& row : report.backing_rows)
        add(row, fmt::format(R"(,"calls":{},"limit_calls":{})", row.calls, row.limit_calls));
    return text + "]}\n";
}

} // namespace mtdfuse::tools
