#include <mtdfuse/tools.hpp>

int main(int argc, char** argv) {
    return mtdfuse::tools::image_main({argv + (argc > 0 ? 1 : 0), argv + argc});
}
