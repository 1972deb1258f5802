#include <mtdfuse/tools.hpp>

int main(int argc, char** argv) {
    return mtdfuse::tools::speedtest_main(std::vector<std::string>(argv + 1, argv + argc));
}
