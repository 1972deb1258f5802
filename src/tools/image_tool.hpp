// mtdfuse-image inside: the command line, and the two commands.
#pragma once

#include <functional>
#include <iosfwd>
#include <optional>

#include <mtdfuse/chip.hpp>
#include <mtdfuse/tools.hpp>

namespace mtdfuse::tools {

enum class ImageVerb { create, info, help, version };

struct ImageCommand {
    ImageVerb verb = ImageVerb::help;
    chip::Type type = chip::Type::ram;
    std::optional<std::uint64_t> size_bytes;
    std::optional<std::uint64_t> erasesize_bytes;
    std::string path;

    // Of a device of this size, with the options that were given.
    [[nodiscard]] chip::Geometry geometry(std::uint64_t device_bytes) const;
};

// EINVAL with a sentence as the daemon's: what is unknown first, then doubled, then wrong values.
[[nodiscard]] Result<ImageCommand> parse_image_command(const std::vector<std::string>& arguments);
[[nodiscard]] std::string image_help();

// What has been done so far, of how much.
using Progress = std::function<void(std::uint64_t done_bytes, std::uint64_t total_bytes)>;

// Makes the image, all 0xFF and on stable storage when it returns. EEXIST for a path that exists,
// which is left alone. After any other failure, and after SIGINT, SIGTERM or SIGHUP (EINTR), the
// half-made file is gone again.
[[nodiscard]] Status create_image(const ImageCommand& command, const Progress& progress);

// The description, several lines. Reads the whole image.
[[nodiscard]] Result<std::string> describe_image(const ImageCommand& command,
                                                 const Progress& progress);

struct ImageStreams {
    std::ostream& out;
    std::ostream& err;
    bool progress = false; // a bar on err, which is a terminal
};
[[nodiscard]] int image_main(const std::vector<std::string>& arguments, ImageStreams streams);

} // namespace mtdfuse::tools
