#include "speedtest_run.hpp"

#include <memory>

#include <fmt/format.h>

#include "speedtest_support.hpp"
#include "speedtest_works.hpp"

namespace mtdfuse::tools {

namespace {

// One device with everything below it. Members are destroyed last to first: device before cache.
struct Subject {
    std::unique_ptr<cache::Cache> cache;
    std::unique_ptr<chip::Chip> chip;
    std::unique_ptr<mtd::Device> device;
    std::unique_ptr<Target> target;
};

Result<cache::Mapping*> make_mapping(cache::Cache& cache, const SpeedtestOptions& options) {
    if (options.directory.empty())
        return cache.map_anonymous(options.size_bytes);
    auto file = make_nameless_file(options.directory, options.size_bytes);
    if (!file)
        return tl::make_unexpected(file.error());
    return cache.map(
        storage::make_file_backing(std::move(*file), options.size_bytes, cache::kBasePageBytes));
}

Result<Subject> make_subject(const SpeedtestOptions& options, std::uint64_t folio_bytes, Log& log,
                             Clock& clock) {
    cache::Options cache_options;
    cache_options.folio_bytes = folio_bytes;
    cache_options.kernels = options.kernels;
    auto cache = cache::Cache::create(cache_options, log, clock);
    if (!cache)
        return tl::make_unexpected(cache.error());
    const auto mapping = make_mapping(**cache, options);
    if (!mapping)
        return tl::make_unexpected(mapping.error());
    chip::Geometry geometry = chip::default_geometry(chip::Type::ram, options.size_bytes);
    geometry.erasesize_bytes = kEraseBlockBytes;
    const Status right = chip::check_geometry(geometry);
    if (!right)
        return tl::make_unexpected(right.error());
    Subject subject{std::move(*cache), chip::make_ram(geometry, **mapping), nullptr, nullptr};
    subject.device = std::make_unique<mtd::Device>(*subject.chip, 0, "speedtest", false);
    subject.target = options.engine_only ? make_target(**mapping) : make_target(*subject.device);
    return subject;
}

// Invariant: between passes all subjects and `ram_` hold the same bytes: those of `data_`, or 0xFF
// after an erase. The writes of a round come first, each with bytes that the device does not hold.
class Rounds {
public:
    Rounds(const SpeedtestOptions& options, std::vector<Subject>& subjects)
        : options_(options), subjects_(subjects), data_(random_bytes(kDataBytes, 1)),
          other_data_(random_bytes(kDataBytes, 2)), erased_(kDataBytes, std::byte{0xff}),
          ram_(options.size_bytes, std::byte{0xff}), buffer_(kEraseBlockBytes, std::byte{0}),
          second_buffer_(kEraseBlockBytes, std::byte{0}),
          samples_(kWorks.size() * (subjects.size() + 1)) {
        Random random(3);
        for (std::uint64_t i = 0; i < options.size_bytes / kRandomReadBytes; ++i)
            offsets_.push_back(random.below(options.size_bytes / kRandomReadBytes) *
                               kRandomReadBytes);
    }

    // `timed` is false for the first round, which touches all memory for the first time.
    Status run(bool timed) {
        for (std::size_t w = 0; w < kWorks.size(); ++w) {
            const Work& work = kWorks[w];
            if (work.action == Action::write)
                std::swap(data_, other_data_);
            const Material material{
                data_.bytes(), {buffer_.bytes(), second_buffer_.bytes()}, offsets_};
            const double limit = time_ms([&] { run_on_memory(work, ram_.bytes(), material); });
            if (timed)
                samples(w, subjects_.size()).push_back(limit);
            for (std::size_t s = 0; s < subjects_.size(); ++s) {
                Status done;
                Target& target = *subjects_[s].target;
                const double taken = time_ms([&] { done = run_on_target(work, target, material); });
                if (done)
                    done = check_contents(target,
                                          (work.action == Action::erase ? erased_ : data_).bytes(),
                                          buffer_.bytes());
                if (!done)
                    return fail(done.error().number,
                                fmt::format("{} with folios of {}: {}", work.name,
                                            options_.folio_bytes[s], done.error().context));
                if (timed)
                    samples(w, s).push_back(taken);
            }
        }
        return {};
    }

    std::vector<Row> medians() {
        std::vector<Row> rows;
        for (std::size_t w = 0; w < kWorks.size(); ++w) {
            const double limit = median(samples(w, subjects_.size()));
            for (std::size_t s = 0; s < subjects_.size(); ++s)
                rows.push_back(Row{kWorks[w].name, options_.folio_bytes[s], median(samples(w, s)),
                                   limit, kWorks[w].limit});
        }
        return rows;
    }

private:
    std::vector<double>& samples(std::size_t work, std::size_t subject) {
        return samples_[work * (subjects_.size() + 1) + subject];
    }

    const SpeedtestOptions& options_;
    std::vector<Subject>& subjects_;
    PageAligned data_, other_data_, erased_, ram_, buffer_, second_buffer_;
    std::vector<std::uint64_t> offsets_;
    std::vector<std::vector<double>> samples_;
};

} // namespace

Result<std::vector<Row>> run_speedtest(const SpeedtestOptions& options, Log& log) {
    SteadyClock clock;
    std::vector<Subject> subjects;
    for (const std::uint64_t folio_bytes : options.folio_bytes) {
        auto subject = make_subject(options, folio_bytes, log, clock);
        if (!subject)
            return tl::make_unexpected(subject.error());
        subjects.push_back(std::move(*subject));
    }
    Rounds rounds(options, subjects);
    for (unsigned round = 0; round <= options.rounds; ++round) {
        const Status done = rounds.run(round > 0);
        if (!done)
            return tl::make_unexpected(done.error());
    }
    return rounds.medians();
}

} // namespace mtdfuse::tools
