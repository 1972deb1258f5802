#include <mtdfuse/tools.hpp>
