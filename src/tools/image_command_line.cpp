// CLI11 splits the arguments; what it finds is judged here, so that the first message is the cause.
#include <algorithm>
#include <array>
#include <cerrno>

#include <CLI/CLI.hpp>
#include <fmt/format.h>

#include "image_tool.hpp"

namespace mtdfuse::tools {

namespace {

Status set_type(const std::string& value, ImageCommand& into) {
    const auto type = chip::parse_type(value);
    if (!type)
        return tl::make_unexpected(type.error());
    into.type = *type;
    return {};
}

Status set_size(const std::string& value, ImageCommand& into) {
    const auto bytes = parse_size(value);
    if (!bytes)
        return tl::make_unexpected(bytes.error());
    into.size_bytes = *bytes;
    return {};
}

Status set_erasesize(const std::string& value, ImageCommand& into) {
    const auto bytes = parse_size(value);
    if (!bytes)
        return tl::make_unexpected(bytes.error());
    if (*bytes < chip::kMinErasesizeBytes || *bytes > chip::kMaxErasesizeBytes)
        return fail(EINVAL, fmt::format("'{}' is out of range: {} to {} is right", value,
                                        format_size(chip::kMinErasesizeBytes),
                                        format_size(chip::kMaxErasesizeBytes)));
    into.erasesize_bytes = *bytes;
    return {};
}

struct Row {
    std::string_view names; // as CLI11 takes them
    std::string_view value; // empty: takes none
    std::string_view help;
    bool of_info = true; // create takes them all
    Status (*apply)(const std::string&, ImageCommand&) = nullptr;
};

constexpr std::array kRows = {
    Row{"--type", "TYPE", "kind of flash: ram (default: ram)", false, set_type},
    Row{"--size", "SIZE", "bytes of the image, a multiple of erasesize (create needs it)", false,
        set_size},
    Row{"--erasesize", "SIZE", "bytes of an erase block, 256 to 1G (default: 128K)", true,
        set_erasesize},
    Row{"-V,--version", "", "print the version and leave"},
    Row{"-h,--help", "", "print this text and leave"},
};
constexpr std::size_t kVersionRow = 3;
constexpr std::size_t kHelpRow = 4;

struct Line {
    std::array<std::vector<std::string>, kRows.size()> values; // per row
    std::vector<std::string> operands;
};

tl::unexpected<Error> needs_value(const Row& row) {
    return fail(EINVAL,
                fmt::format("option {} needs a value: {} {}", row.names, row.names, row.value));
}

// CLI11 takes the next argument where `--size=` has an empty value.
Status check_joined_value(const std::string& argument) {
    const std::string name = argument.substr(0, argument.find('='));
    for (const Row& row : kRows) {
        if (row.names == name && argument.size() == name.size() + 1)
            return needs_value(row);
    }
    return {};
}

Result<Line> split(std::vector<std::string> arguments) {
    CLI::App app;
    app.set_help_flag();
    app.allow_extras();
    std::array<CLI::Option*, kRows.size()> options{};
    for (std::size_t i = 0; i < kRows.size(); ++i) {
        const std::string names(kRows[i].names);
        options[i] = kRows[i].value.empty()
                         ? app.add_flag(names)
                         : app.add_option(names, CLI::callback_t([](auto&) { return true; }));
        options[i]->multi_option_policy(CLI::MultiOptionPolicy::TakeAll);
    }
    const auto end_of_options = std::find(arguments.begin(), arguments.end(), "--");
    const std::vector<std::string> behind(
        end_of_options == arguments.end() ? end_of_options : end_of_options + 1, arguments.end());
    arguments.erase(end_of_options, arguments.end());
    Status status;
    for (const std::string& argument : arguments) {
        if (status && argument.ends_with('='))
            status = check_joined_value(argument);
    }
    std::reverse(arguments.begin(), arguments.end()); // CLI11 takes them from the back
    try {
        app.parse(arguments);
    } catch (const CLI::ParseError& error) {
        const std::string_view what = error.what();
        for (const Row& row : kRows) {
            if (what.substr(0, what.find(':')) == row.names)
                status = needs_value(row);
        }
        if (status)
            status = fail(EINVAL, error.what());
    }
    Line line;
    for (std::string& extra : app.remaining()) {
        if (extra.size() > 1 && extra.front() == '-')
            return fail(EINVAL, fmt::format("unknown option {}", extra.substr(0, extra.find('='))));
        line.operands.push_back(std::move(extra));
    }
    if (!status)
        return tl::make_unexpected(status.error());
    line.operands.insert(line.operands.end(), behind.begin(), behind.end());
    for (std::size_t i = 0; i < kRows.size(); ++i)
        line.values[i] = options[i]->results();
    return line;
}

Status take_verb(const Line& line, ImageCommand& into) {
    if (line.operands.empty())
        return fail(EINVAL, "a command is missing: write mtdfuse-image create or mtdfuse-image "
                            "info");
    const std::string& word = line.operands[0];
    if (word != "create" && word != "info")
        return fail(EINVAL, fmt::format("unknown command '{}': create and info are right", word));
    into.verb = word == "create" ? ImageVerb::create : ImageVerb::info;
    return {};
}

Status take_options(const Line& line, ImageCommand& into) {
    for (std::size_t i = 0; i < kRows.size(); ++i) {
        const Row& row = kRows[i];
        if (line.values[i].size() > 1)
            return fail(EINVAL, fmt::format("option {} is given twice: give it once", row.names));
        if (line.values[i].empty() || !row.apply)
            continue;
        if (into.verb == ImageVerb::info && !row.of_info)
            return fail(EINVAL,
                        fmt::format("info takes no option {}: only create does", row.names));
        const std::string& value = line.values[i][0];
        if (value.empty() || value.starts_with("--"))
            return needs_value(row);
        if (auto applied = row.apply(value, into); !applied)
            return fail(EINVAL, fmt::format("{}: {}", row.names, applied.error().context));
    }
    return {};
}

Status take_path(const Line& line, ImageCommand& into) {
    if (line.operands.size() < 2 || line.operands[1].empty())
        return fail(EINVAL,
                    fmt::format("IMAGE is missing: write mtdfuse-image {} {}FILE", line.operands[0],
                                into.verb == ImageVerb::create ? "--size SIZE " : ""));
    if (line.operands.size() > 2)
        return fail(EINVAL, fmt::format("'{}' is one operand too many: only IMAGE '{}' is expected",
                                        line.operands[2], line.operands[1]));
    into.path = line.operands[1];
    if (into.verb != ImageVerb::create)
        return {};
    if (!into.size_bytes)
        return fail(EINVAL, "create needs --size: write it as in --size 16M");
    return chip::check_geometry(into.geometry(*into.size_bytes));
}

} // namespace

chip::Geometry ImageCommand::geometry(std::uint64_t device_bytes) const {
    chip::Geometry geometry = chip::default_geometry(type, device_bytes);
    if (erasesize_bytes)
        geometry.erasesize_bytes = static_cast<std::uint32_t>(*erasesize_bytes);
    return geometry;
}

Result<ImageCommand> parse_image_command(const std::vector<std::string>& arguments) {
    const auto line = split(arguments);
    if (!line)
        return tl::make_unexpected(line.error());
    ImageCommand command;
    if (!line->values[kHelpRow].empty())
        return command;
    if (!line->values[kVersionRow].empty()) {
        command.verb = ImageVerb::version;
        return command;
    }
    Status status = take_verb(*line, command);
    if (status)
        status = take_options(*line, command);
    if (status)
        status = take_path(*line, command);
    if (!status)
        return tl::make_unexpected(status.error());
    return command;
}

std::string image_help() {
    constexpr int kHelpColumn = 26;
    std::string text = "Usage: mtdfuse-image create [options] --size SIZE IMAGE\n"
                       "       mtdfuse-image info [--erasesize SIZE] IMAGE\n"
                       "create makes an erased image (every byte 0xFF) for mtdfuse and overwrites "
                       "nothing;\ninfo describes an image or a block device.\n"
                       "Sizes are written as 131072, 128K, 128KiB or 0x20000.\n\nOptions:\n";
    for (const Row& row : kRows) {
        std::string names(row.names);
        if (const std::size_t comma = names.find(','); comma != std::string::npos)
            names.insert(comma + 1, " ");
        const bool has_letter = names[1] != '-';
        text += fmt::format("{:<{}}{}\n",
                            fmt::format("{}{}{}{}", has_letter ? "  " : "      ", names,
                                        row.value.empty() ? "" : " ", row.value),
                            kHelpColumn, row.help);
    }
    return text;
}

} // namespace mtdfuse::tools
