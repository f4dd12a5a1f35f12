#pragma once
// The mode fast: partial sums are added in the order in which their pieces of work finish. So the result depends on how
// the threads happen to run, as on many other systems; docs/numerics.md 11.

#include <atomic>
#include <cstdint>
#include <vector>

namespace retrace {

// The sum of the partial sums of one run_pieces(), each `step` after the one before it, in the mode of the thread that
// makes this (retrace/device/cpu/fast_mode.h).
class FinishOrder {
 public:
  explicit FinishOrder(int64_t pieces);
  // This piece has its partial sums; said once by each, on any thread.
  void done(int64_t piece) {
    if (!order_.empty()) order_[static_cast<size_t>(next_++)] = piece;
  }
  // Once all are done: to[i] = from[piece * step + i] over all pieces, added by the tree as tree_sum() of
  // contraction_kernels() does it, in the mode fast in the order of done().
  void sum(const float* from, int64_t step, const int64_t* first, float* to, int64_t count) const;

 private:
  int64_t pieces_;
  std::vector<int64_t> order_;  // empty: by the tree
  std::atomic<int64_t> next_ = 0;
};

}  // namespace retrace
