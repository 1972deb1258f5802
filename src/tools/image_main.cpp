#include <cerrno>
#include <exception>
#include <iostream>

#include <unistd.h>

#include <fmt/format.h>

#include "image_tool.hpp"

namespace mtdfuse::tools {

namespace {

constexpr int kExitFailure = 1;
constexpr int kExitUsage = 2;

// One line that is drawn again whenever it would change, and wiped at the end.
class ProgressBar {
public:
    ProgressBar(std::ostream& terminal, bool shown) : terminal_(terminal), shown_(shown) {}
    ProgressBar(const ProgressBar&) = delete;
    ProgressBar& operator=(const ProgressBar&) = delete;
    ~ProgressBar() {
        if (drawn_ >= 0)
            terminal_ << fmt::format("\r{:{}}\r", "", kWidth + 7) << std::flush;
    }

    void show(std::uint64_t done_bytes, std::uint64_t total_bytes) {
        const int percent = static_cast<int>(static_cast<double>(done_bytes) * 100.0 /
                                             static_cast<double>(total_bytes));
        if (!shown_ || percent == drawn_)
            return;
        drawn_ = percent;
        terminal_ << fmt::format("\r[{:<{}}] {:3}%",
                                 std::string(static_cast<unsigned>(percent) * kWidth / 100U, '#'),
                                 kWidth, percent)
                  << std::flush;
    }

private:
    static constexpr unsigned kWidth = 50;
    std::ostream& terminal_;
    const bool shown_;
    int drawn_ = -1;
};

int complain(std::ostream& err, int status, std::string_view sentence) {
    err << "mtdfuse-image: " << sentence << '\n';
    if (status == kExitUsage)
        err << "try 'mtdfuse-image --help'\n";
    return status;
}

int print(ImageStreams& streams, const std::string& text) {
    streams.out << text << std::flush;
    return streams.out ? 0 : complain(streams.err, kExitFailure, "the output cannot be written");
}

// The text to print, empty for create.
Result<std::string> carry_out(const ImageCommand& command, ImageStreams& streams) {
    ProgressBar bar(streams.err, streams.progress);
    const Progress progress = [&](std::uint64_t done_bytes, std::uint64_t total_bytes) {
        bar.show(done_bytes, total_bytes);
    };
    if (command.verb == ImageVerb::info)
        return describe_image(command, progress);
    if (auto created = create_image(command, progress); !created)
        return tl::make_unexpected(created.error());
    return std::string();
}

} // namespace

int image_main(const std::vector<std::string>& arguments, ImageStreams streams) {
    try {
        const auto command = parse_image_command(arguments);
        if (!command)
            return complain(streams.err, kExitUsage, command.error().context);
        if (command->verb == ImageVerb::help)
            return print(streams, image_help());
        if (command->verb == ImageVerb::version)
            return print(streams, fmt::format("mtdfuse-image {}\n", MTDFUSE_VERSION));
        const auto text = carry_out(*command, streams);
        if (!text)
            return complain(streams.err, kExitFailure, text.error().context);
        return print(streams, *text);
    } catch (const std::exception& unexpected) {
        return complain(streams.err, kExitFailure, unexpected.what());
    }
}

int image_main(const std::vector<std::string>& arguments) {
    return image_main(arguments, {std::cout, std::cerr, ::isatty(STDERR_FILENO) == 1});
}

} // namespace mtdfuse::tools
