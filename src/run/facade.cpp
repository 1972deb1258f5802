#include <mtdfuse/run.hpp>
