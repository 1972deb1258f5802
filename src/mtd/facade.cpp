#include <mtdfuse/mtd.hpp>
