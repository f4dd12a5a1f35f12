#pragma once
// What launches of a graph use, and which of them the graph orders.

#include <array>
#include <cstdint>
#include <optional>
#include <span>
#include <unordered_map>
#include <vector>

#include "retrace/device/cuda/runtime.h"

namespace retrace::cuda::emulation {

// The words of device memory that a launch has read and written.
class LaunchUses {
 public:
  static constexpr size_t kPage = 4096;  // bytes
  struct Page {
    std::array<uint64_t, kPage / 4 / 64> read{}, written{};
  };

  void note(size_t offset, unsigned bytes, bool writes) {
    for (size_t word = offset / 4; word <= (offset + bytes - 1) / 4; ++word) {
      const size_t page = word / (kPage / 4), bit = word % (kPage / 4);
      if (page != number_ || !page_) page_ = &pages_[page], number_ = page;
      (writes ? page_->written : page_->read)[bit / 64] |= uint64_t{1} << bit % 64;
    }
  }
  const std::unordered_map<size_t, Page>& pages() const { return pages_; }

 private:
  std::unordered_map<size_t, Page> pages_;
  size_t number_ = 0;
  Page* page_ = nullptr;  // of that number
};

// Which launches come before which.
class GraphPaths {
 public:
  explicit GraphPaths(const Edges& edges);
  bool ordered(size_t one, size_t other) const { return is_before(one, other) || is_before(other, one); }
  // An order that the edges allow: of the launches that are ready always the one that comes first in `wanted`.
  std::vector<size_t> order(const Edges& edges, std::span<const unsigned> wanted) const;

 private:
  bool is_before(size_t earlier, size_t later) const { return earlier < later && before_[later][earlier]; }
  std::vector<std::vector<bool>> before_;
};

// The same edges but for one, by its number in their order; all of them for -1.
Edges without_edge(Edges edges, int64_t number);

// Two launches that use a word, one of them writing, which nothing orders.
struct UsesConflict {
  size_t first, second, offset;
};
std::optional<UsesConflict> find_conflict(std::span<const LaunchUses> uses, const GraphPaths& paths);

}  // namespace retrace::cuda::emulation
