#include <mtdfuse/fuse.hpp>
