#include <mtdfuse/daemon.hpp>

int main(int argc, char** argv) {
    return mtdfuse::daemon::run({argv + (argc > 0 ? 1 : 0), argv + argc});
}
