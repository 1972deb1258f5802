#include <mtdfuse/tree.hpp>

#include <catch2/catch.hpp>

namespace mtdfuse::tree {

TEST_CASE("metrics are Prometheus text") {
    CHECK(metrics_text({}).empty());
    CHECK(metrics_text({{"hits_total", "Found in the cache.", MetricKind::counter, 7},
                        {"dirty_bytes", "Two\nlines, a \\.", MetricKind::gauge, 0}}) ==
          "# HELP mtdfuse_hits_total Found in the cache.\n"
          "# TYPE mtdfuse_hits_total counter\n"
          "mtdfuse_hits_total 7\n"
          "# HELP mtdfuse_dirty_bytes Two\\nlines, a \\\\.\n"
          "# TYPE mtdfuse_dirty_bytes gauge\n"
          "mtdfuse_dirty_bytes 0\n");
}

} // namespace mtdfuse::tree
