// libfuse's low-level interface, always in the version that this room is written for. 3.14 is the
// floor (Debian 12).
#pragma once

#define FUSE_USE_VERSION 314
#include <fuse_lowlevel.h>
