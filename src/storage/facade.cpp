#include <mtdfuse/storage.hpp>
