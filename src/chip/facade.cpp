#include <mtdfuse/chip.hpp>
