#include <mtdfuse/tree.hpp>
