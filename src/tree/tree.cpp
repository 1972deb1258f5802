#include <mtdfuse/tree.hpp>

#include <algorithm>

#include <fmt/format.h>

#include "builder.hpp"
#include "control.hpp"
#include "sysfs.hpp"

namespace mtdfuse::tree {

namespace {

void collect_io(const storage::IoHistogram& io, std::vector<Metric>& into) {
    const auto totals = io.totals();
    const auto counter = [&into](const char* name, const char* help, std::uint64_t value) {
        into.push_back({name, help, MetricKind::counter, value});
    };
    counter("backing_reads_total", "Reads of the backing.", totals.read_calls);
    counter("backing_read_bytes_total", "Bytes read from the backing.", totals.read_bytes);
    counter("backing_writes_total", "Writes of the backing.", totals.write_calls);
    counter("backing_write_bytes_total", "Bytes written to the backing.", totals.write_bytes);
    counter("backing_syncs_total", "Times the backing was put on stable storage.",
            totals.sync_calls);
}

std::string all_metrics(const Sources& sources) {
    std::vector<Metric> metrics;
    if (sources.cache) {
        sources.cache->collect_metrics(metrics);
    }
    // All devices are of one chip.
    if (!sources.devices.empty()) {
        sources.devices.front()->collect_metrics(metrics);
    }
    if (sources.io) {
        collect_io(*sources.io, metrics);
    }
    if (sources.more_metrics) {
        sources.more_metrics(metrics);
    }
    return metrics_text(metrics);
}

void add_device(Builder& builder, mtd::Device& device, Log& log) {
    const std::string name = fmt::format("mtd{}", device.index());
    builder.mtd_node(kRootInode, name, device, false);
    builder.mtd_node(kRootInode, name + "ro", device, true);

    const Inode dev = builder.directory_path(kRootInode, "dev");
    builder.symlink(dev, name, "../" + name);
    builder.symlink(dev, name + "ro", "../" + name + "ro");

    add_sysfs_class(builder, builder.directory_path(kRootInode, "sys/class/mtd"), device);
    add_device_control(builder, builder.directory_path(kRootInode, "ctl/" + name), device, log);
}

void add_statistics(Builder& builder, const Sources& sources) {
    builder.text(kRootInode, "metrics",
                 [sources]() -> Result<std::string> { return all_metrics(sources); });
    const Inode stats = builder.directory(kRootInode, "stats");
    // Memory without a backing has no I/O: the files are there and empty of counts.
    const storage::IoHistogram* io = sources.io;
    builder.text(stats, "io", [io]() -> Result<std::string> {
        return io ? io->io_json() : storage::IoHistogram().io_json();
    });
    builder.text(stats, "waf", [io]() -> Result<std::string> {
        return io ? io->waf_json() : storage::IoHistogram().waf_json();
    });
}

} // namespace

Tree::Tree(const Sources& sources) {
    Builder builder;
    for (mtd::Device* device : sources.devices) {
        add_device(builder, *device, *sources.log);
    }
    builder.text(
        builder.directory(kRootInode, "proc"), "mtd",
        [devices = sources.devices]() -> Result<std::string> { return proc_mtd_text(devices); });
    add_chip_control(builder, builder.directory_path(kRootInode, "ctl"), sources.devices,
                     *sources.log);
    add_statistics(builder, sources);
    nodes_ = builder.take();
}

Tree::~Tree() = default;

const Node* Tree::find(Inode inode) const {
    return inode >= kRootInode && inode <= nodes_.size() ? &nodes_[inode - 1] : nullptr;
}

const Node* Tree::lookup(Inode directory, std::string_view name) const {
    const Node* parent = find(directory);
    if (!parent) {
        return nullptr;
    }
    const auto found = std::find_if(parent->children.begin(), parent->children.end(),
                                    [&](Inode child) { return nodes_[child - 1].name == name; });
    return found == parent->children.end() ? nullptr : find(*found);
}

const Node* Tree::at_path(std::string_view path) const {
    const Node* node = find(kRootInode);
    while (node && !path.empty()) {
        const std::string_view name = path.substr(0, path.find('/'));
        path.remove_prefix(std::min(path.size(), name.size() + 1));
        node = lookup(node->inode, name);
    }
    return node;
}

std::vector<Inode> Tree::nodes_of(const mtd::Device& device) const {
    std::vector<Inode> inodes;
    for (const Node& node : nodes_) {
        if (node.kind == Kind::mtd_node && node.device == &device) {
            inodes.push_back(node.inode);
        }
    }
    return inodes;
}

} // namespace mtdfuse::tree
