#include "retrace/device/cpu/finish_order.h"

#include <algorithm>

#include "retrace/device/cpu/contraction_tile.h"
#include "retrace/device/cpu/fast_mode.h"

namespace retrace {

FinishOrder::FinishOrder(int64_t pieces) : pieces_(pieces) {
  if (is_fast()) order_.resize(static_cast<size_t>(pieces));
}

void FinishOrder::sum(const float* from, int64_t step, const int64_t* first, float* to, int64_t count) const {
  if (order_.empty()) return contraction_kernels().tree_sum(from, step, pieces_, first, to, count);
  std::copy_n(from + order_[0] * step, count, to);
  for (size_t i = 1; i < order_.size(); ++i) {
    const float* next = from + order_[i] * step;
    for (int64_t c = 0; c < count; ++c) to[c] += next[c];
  }
}

}  // namespace retrace
