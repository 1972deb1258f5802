#include <mtdfuse/tree.hpp>

#include <fmt/format.h>

namespace mtdfuse::tree {

namespace {

// The format's escapes for a HELP line.
std::string escaped(std::string_view help) {
    std::string result;
    for (const char character : help) {
        if (character == '\\') {
            result += "\\\\";
        } else if (character == '\n') {
            result += "\\n";
        } else {
            result += character;
        }
    }
    return result;
}

} // namespace

std::string metrics_text(const std::vector<Metric>& metrics) {
    std::string text;
    for (const Metric& metric : metrics) {
        const std::string name = "mtdfuse_" + metric.name;
        text += fmt::format("# HELP {0} {1}\n# TYPE {0} {2}\n{0} {3}\n", name, escaped(metric.help),
                            metric.kind == MetricKind::counter ? "counter" : "gauge", metric.value);
    }
    return text;
}

} // namespace mtdfuse::tree
