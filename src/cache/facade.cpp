#include <mtdfuse/cache.hpp>
