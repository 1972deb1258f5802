#include <mtdfuse/chip.hpp>

#include <array>
#include <cerrno>

#include <fmt/format.h>

namespace mtdfuse::chip {
namespace {

struct TypeWord {
    Type type;
    std::string_view word;
};
constexpr std::array kTypeWords{TypeWord{Type::ram, "ram"}};

std::string known_words() {
    std::string words;
    for (const TypeWord& known : kTypeWords) {
        words += words.empty() ? "" : ", ";
        words += known.word;
    }
    return words;
}

} // namespace

std::string_view type_name(Type type) {
    for (const TypeWord& known : kTypeWords) {
        if (known.type == type) {
            return known.word;
        }
    }
    return "unknown";
}

Result<Type> parse_type(std::string_view word) {
    for (const TypeWord& known : kTypeWords) {
        if (known.word == word) {
            return known.type;
        }
    }
    return fail(EINVAL, fmt::format("no device type `{}`; known: {}", word, known_words()));
}

} // namespace mtdfuse::chip
