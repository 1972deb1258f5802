// The command line and the mount words, both driven by the option table. CLI11 splits the
// arguments; what it finds is judged here, in the order that makes the first message the cause:
// unknown, doubled, missing or wrong value, wrong number of operands, contradictions.
#include <algorithm>
#include <cerrno>
#include <map>

#include <CLI/CLI.hpp>
#include <fmt/format.h>

#include "option_table.hpp"

namespace mtdfuse::daemon {

namespace {

// One use of an option, as the user spelt it.
struct Setting {
    const OptionRow* row;
    std::string spelt; // "--size", "-f", "-o size"
    std::string value;
};

struct Line {
    std::vector<Setting> settings;
    std::vector<std::string> unknown;
    std::vector<std::string> operands;
    std::vector<std::string> word_lists;      // the values of -o
    const OptionRow* without_value = nullptr; // the option that ended the line, its value missing
    bool help = false, version = false;
};

tl::unexpected<Error> needs_value(const OptionRow& row, std::string_view spelt) {
    return fail(EINVAL, fmt::format("option {} needs a value: {}{}{}", spelt, spelt,
                                    spelt.starts_with("-o ") ? "=" : " ", row.value));
}

tl::unexpected<Error> takes_no_value(std::string_view spelt, std::string_view value) {
    return fail(EINVAL, fmt::format("option {} takes no value, but '{}' was given", spelt, value));
}

// CLI11 takes the next argument where `--name=` has an empty value, and true as a flag's value.
Status check_joined_values(const std::vector<std::string>& arguments) {
    for (const std::string& argument : arguments) {
        const std::size_t equals = argument.find('=');
        if (!argument.starts_with("--") || equals == std::string::npos)
            continue;
        const OptionRow* row = find_long(std::string_view(argument).substr(2, equals - 2));
        if (!row)
            continue;
        const std::string value = argument.substr(equals + 1);
        if (row->value.empty())
            return takes_no_value(spelling(*row), value);
        if (value.empty())
            return needs_value(*row, spelling(*row));
    }
    return {};
}

std::string cli11_names(const OptionRow& row) {
    std::string names;
    if (row.short_name)
        names = fmt::format("-{}", row.short_name);
    if (!row.long_name.empty())
        names += fmt::format("{}--{}", names.empty() ? "" : ",", row.long_name);
    return names;
}

void collect(const OptionRow& row, const CLI::Option& option, Line& line) {
    for (const std::string& value : option.results()) {
        if (row.apply)
            line.settings.push_back({&row, spelling(row), row.value.empty() ? "" : value});
        else if (row.short_name == 'o')
            line.word_lists.push_back(value);
    }
    line.help |= row.short_name == 'h' && option.count() > 0;
    line.version |= row.short_name == 'V' && option.count() > 0;
}

// `arguments` up to "--", split into options and operands.
Line split(std::vector<std::string> arguments) {
    CLI::App app;
    app.set_help_flag();
    app.allow_extras();
    std::vector<CLI::Option*> options;
    for (const OptionRow& row : option_table()) {
        CLI::Option* option =
            row.value.empty()
                ? app.add_flag(cli11_names(row))
                : app.add_option(cli11_names(row), CLI::callback_t([](auto&) { return true; }));
        options.push_back(option->multi_option_policy(CLI::MultiOptionPolicy::TakeAll));
    }
    Line line;
    std::reverse(arguments.begin(), arguments.end()); // CLI11 takes them from the back
    try {
        app.parse(arguments);
    } catch (const CLI::ArgumentMismatch& mismatch) {
        const std::string_view what = mismatch.what();
        for (const OptionRow& row : option_table()) {
            if (what.substr(0, what.find(':')) == spelling(row))
                line.without_value = &row;
        }
    }
    for (std::size_t i = 0; i < options.size(); ++i)
        collect(option_table()[i], *options[i], line);
    for (std::string& extra : app.remaining()) {
        if (extra.size() > 1 && extra.front() == '-')
            line.unknown.push_back(extra.substr(0, extra.find('=')));
        else
            line.operands.push_back(std::move(extra));
    }
    return line;
}

Status take_mount_word(std::string_view word, Options& options) {
    const MountWord* known = find_mount_word(word);
    if (!known)
        return fail(EINVAL, fmt::format("unknown mount word '{}' in -o", word));
    if (known->effect == WordEffect::kernel)
        options.kernel_words.emplace_back(word);
    else if (known->effect == WordEffect::allow_other)
        options.allow_other = true;
    return {};
}

// Sorts the words of every -o into settings and what mount(8) passes. `writable` tells of `rw`.
Status take_words(Line& line, Options& options, bool& writable) {
    for (const std::string& list : line.word_lists) {
        for (const std::string& word : CLI::detail::split(list, ',')) {
            if (word.empty())
                continue;
            const std::size_t equals = word.find('=');
            const std::string name = word.substr(0, equals);
            const OptionRow* row = find_word(name);
            if (!row) {
                if (auto taken = take_mount_word(word, options); !taken)
                    return taken;
                writable |= word == "rw";
                continue;
            }
            const std::string spelt = "-o " + name;
            const std::string value = equals == std::string::npos ? "" : word.substr(equals + 1);
            if (row->value.empty() && equals != std::string::npos)
                return takes_no_value(spelt, value);
            line.settings.push_back({row, spelt, value});
        }
    }
    return {};
}

Status check_doubled(const Line& line) {
    std::map<const OptionRow*, const Setting*> seen;
    for (const Setting& setting : line.settings) {
        const auto [before, fresh] = seen.emplace(setting.row, &setting);
        if (!fresh)
            return fail(EINVAL, fmt::format("option {} is given twice{}: give it once",
                                            before->second->spelt,
                                            before->second->spelt == setting.spelt
                                                ? ""
                                                : fmt::format(", also as {}", setting.spelt)));
    }
    return {};
}

Status apply(const Setting& setting, Options& options) {
    if (!setting.row->value.empty()) {
        const std::string_view value = setting.value;
        const bool is_option = (value.starts_with("--") && find_long(value.substr(2))) ||
                               (value.size() == 2 && value[0] == '-' && find_short(value[1]));
        if (value.empty() || is_option)
            return needs_value(*setting.row, setting.spelt);
    }
    if (auto applied = setting.row->apply(setting.value, options); !applied)
        return fail(EINVAL, fmt::format("{}: {}", setting.spelt, applied.error().context));
    return {};
}

Status take_operands(std::vector<std::string>& operands, Options& options) {
    if (operands.empty())
        return fail(EINVAL, "IMAGE and MOUNTPOINT are missing: give a file, a block device or "
                            "none, and an empty directory");
    if (operands.size() == 1)
        return fail(EINVAL, fmt::format("MOUNTPOINT is missing after IMAGE '{}': give an empty "
                                        "directory",
                                        operands[0]));
    if (operands.size() > 2)
        return fail(EINVAL, fmt::format("'{}' is one operand too many: only IMAGE '{}' and "
                                        "MOUNTPOINT '{}' are expected",
                                        operands[2], operands[0], operands[1]));
    for (std::size_t i = 0; i < 2; ++i) {
        if (operands[i].empty())
            return fail(EINVAL,
                        fmt::format("{} is empty: give {}", i ? "MOUNTPOINT" : "IMAGE",
                                    i ? "an empty directory" : "a file, a block device or none"));
    }
    options.image = std::move(operands[0]);
    options.mount_point = std::move(operands[1]);
    return {};
}

Status check_together(const Options& options, bool writable) {
    if (options.read_only && writable)
        return fail(EINVAL, "ro and rw contradict each other: give one of them");
    if (options.name && !options.partitions.empty())
        return fail(EINVAL, "name is for a device that parts divides: leave --name out, and name "
                            "the partitions in --parts");
    if (options.cache_bytes && *options.cache_bytes < options.folio_bytes)
        return fail(EINVAL, fmt::format("cache-size {} is less than one folio of {}: give a "
                                        "larger --cache-size or a smaller --folio-size",
                                        format_size(*options.cache_bytes),
                                        format_size(options.folio_bytes)));
    if (options.image == "none" && !options.size_bytes)
        return fail(EINVAL, "IMAGE 'none' has no size of its own: give --size, as in --size 16M");
    if (!options.size_bytes)
        return {};
    chip::Geometry geometry = chip::default_geometry(options.type, *options.size_bytes);
    if (options.erasesize_bytes)
        geometry.erasesize_bytes = static_cast<std::uint32_t>(*options.erasesize_bytes);
    if (Status checked = chip::check_geometry(geometry); !checked)
        return checked;
    // Without --size the image says later where the device ends.
    if (const auto parts = mtd::place_partitions(options.partitions, geometry); !parts)
        return fail(EINVAL, fmt::format("--parts: {}", parts.error().context));
    return {};
}

} // namespace

Result<ParsedLine> parse_command_line(const std::vector<std::string>& arguments) {
    const auto end_of_options = std::find(arguments.begin(), arguments.end(), "--");
    const std::vector<std::string> front(arguments.begin(), end_of_options);
    Line line = split(front);
    if (end_of_options != arguments.end())
        line.operands.insert(line.operands.end(), end_of_options + 1, arguments.end());

    if (!line.unknown.empty())
        return fail(EINVAL, fmt::format("unknown option {}", line.unknown.front()));
    Options options;
    bool writable = false;
    Status status = check_joined_values(front);
    if (status)
        status = take_words(line, options, writable);
    if (!status)
        return tl::make_unexpected(status.error());
    if (line.help)
        return ParsedLine{std::nullopt, help_text()};
    if (line.version)
        return ParsedLine{std::nullopt, version_text()};

    if (line.without_value)
        return needs_value(*line.without_value, spelling(*line.without_value));
    for (const std::string& list : line.word_lists) {
        if (list.empty())
            return needs_value(*find_short('o'), "-o");
    }
    status = check_doubled(line);
    for (std::size_t i = 0; status && i < line.settings.size(); ++i)
        status = apply(line.settings[i], options);
    if (status)
        status = take_operands(line.operands, options);
    if (status)
        status = check_together(options, writable);
    if (!status)
        return tl::make_unexpected(status.error());
    return ParsedLine{std::move(options), {}};
}

} // namespace mtdfuse::daemon
