#include <mtdfuse/daemon.hpp>
