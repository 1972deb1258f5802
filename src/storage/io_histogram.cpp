// Invariant: every I/O counts once in size, alignment and calls. The counters are independent: a
// text made while I/O goes on may show an I/O in one of them and not yet in another.
#include <mtdfuse/storage.hpp>

#include <bit>
#include <cmath>

#include <fmt/format.h>

namespace mtdfuse::storage {

namespace {

using Orders = std::array<Counter, IoHistogram::kOrders>;

constexpr std::array<std::uint64_t, 5> kIndirectionUnits = {4096, 8192, 16384, 32768, 65536};

std::string orders_json(const Orders& orders) {
    std::string text = "{";
    for (std::size_t order = 0; order < orders.size(); ++order) {
        if (const std::uint64_t count = orders[order].value(); count != 0)
            text += fmt::format("{}\"{}\": {}", text.size() > 1 ? ", " : "", order, count);
    }
    return text + "}";
}

// Both the size and the unit are powers of two, so rounding up means taking the larger.
double amplification(const Orders& sizes, std::uint64_t unit_bytes) {
    double asked = 0;
    double done = 0;
    for (std::size_t order = 0; order < sizes.size(); ++order) {
        const auto count = static_cast<double>(sizes[order].value());
        const double size = std::ldexp(1.0, static_cast<int>(order));
        asked += count * size;
        done += count * std::max(size, static_cast<double>(unit_bytes));
    }
    return asked == 0 ? 1.0 : done / asked;
}

} // namespace

void IoHistogram::record(Direction direction, ByteOffset at, std::uint64_t length_bytes) {
    if (length_bytes == 0)
        return;
    PerDirection& counters = direction == Direction::read ? read_ : write_;
    counters.size[static_cast<std::size_t>(std::bit_width(length_bytes)) - 1].add();
    counters.alignment[static_cast<std::size_t>(std::countr_zero(at.value | length_bytes))].add();
    counters.calls.add();
    counters.bytes.add(length_bytes);
}

void IoHistogram::record_sync() {
    syncs_.add();
}

IoHistogram::Totals IoHistogram::totals() const {
    return {read_.calls.value(), read_.bytes.value(), write_.calls.value(), write_.bytes.value(),
            syncs_.value()};
}

std::string IoHistogram::io_json() const {
    const auto direction = [](const PerDirection& counters) {
        return fmt::format(R"({{"Block size": {}, "Algn size": {}}})", orders_json(counters.size),
                           orders_json(counters.alignment));
    };
    return fmt::format("{{\"read\": {}, \"write\": {}}}\n", direction(read_), direction(write_));
}

std::string IoHistogram::waf_json() const {
    std::string text = "{";
    for (const std::uint64_t unit : kIndirectionUnits)
        text += fmt::format("{}\"{}\": {:.3f}", text.size() > 1 ? ", " : "", unit,
                            amplification(write_.size, unit));
    return text + "}\n";
}

} // namespace mtdfuse::storage
