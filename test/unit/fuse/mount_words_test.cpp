#include "mount_words.hpp"

#include <catch2/catch.hpp>

namespace mtdfuse::fuse {

TEST_CASE("a source with commas and backslashes stays one word") {
    CHECK(escaped_word("/a b/c") == "/a b/c");
    CHECK(escaped_word("a,b\\c") == "a\\,b\\\\c");
}

TEST_CASE("the words of a mount") {
    MountOptions options;
    options.source = "/x,y.img";
    CHECK(mount_words(options) == "fsname=/x\\,y.img,subtype=mtdfuse,nosuid,nodev,max_read=524288");
    options.allow_other = true;
    options.kernel_words = {"noatime", "noexec"};
    CHECK(mount_words(options) == "fsname=/x\\,y.img,subtype=mtdfuse,nosuid,nodev,max_read=524288,"
                                  "allow_other,default_permissions,noatime,noexec");
}

} // namespace mtdfuse::fuse
