// Adaptive pooling along one axis, one thread an element of the result.
#include "retrace/device/cuda/kernel.h"
#include "retrace/ops/adaptive_pool2d/adaptive_pool2d_cuda.h"

namespace retrace::cuda {
namespace {

template <class Index>
RT_DEVICE void adaptive_max(const AdaptiveMaxArguments<Index>& a) {
  const unsigned i = element_number();
  if (i >= a.count) return;
  const AdaptiveGrid& g = a.grid;
  const auto [outer, window, c] = g.pooled_place(i);
  const auto [first, end] = g.window(window);
  float best = a.x[g.element(outer, first, c)];
  unsigned slot = 0;
  for (unsigned along = first + 1; along < end; ++along) {
    const float next = a.x[g.element(outer, along, c)];
    const bool wins = best == best && !(next <= best);  // greater, or the first NaN
    best = wins ? next : best;
    slot = wins ? along - first : slot;
  }
  a.y[i] = best;
  a.index[i] = static_cast<Index>(slot);
}

template <class Index>
RT_DEVICE void adaptive_gather(const AdaptiveGatherArguments<Index>& a) {
  const unsigned i = element_number();
  if (i >= a.count) return;
  const AdaptiveGrid& g = a.grid;
  const auto [outer, window, c] = g.pooled_place(i);
  const auto slot = static_cast<unsigned>(static_cast<Index>(a.index[i]));
  a.y[i] = a.x[g.element(outer, g.window(window).first + slot, c)];
}

template <class Index>
RT_DEVICE void adaptive_won(const AdaptiveWonArguments<Index>& a) {
  const unsigned i = element_number();
  if (i >= a.count) return;
  const AdaptiveGrid& g = a.grid;
  const auto [outer, along, c] = g.place(i);
  const AdaptiveCover<unsigned> cover = g.cover(along);
  float sum = 0;
  if (a.before.pointer) sum = a.before[i];
  for (unsigned k = 0; k < cover.count(); ++k) {
    const unsigned window = cover.window(k), from = g.pooled(outer, window, c);
    const auto slot = static_cast<unsigned>(static_cast<Index>(a.index[from]));
    const float dy = 0.0f + a.dy[from];
    sum = sum + (slot == along - g.window(window).first ? dy : 0.0f);
  }
  a.dx[i] = sum;
}

}  // namespace

RT_KERNEL(adaptive_average_pool, AdaptiveAverageArguments, a) {
  const unsigned i = element_number();
  if (i >= a.count) return;
  const AdaptiveGrid& g = a.grid;
  const auto [outer, window, c] = g.pooled_place(i);
  const auto [first, end] = g.window(window);
  float sum = 0;
  for (unsigned along = first; along < end; ++along) sum = sum + a.from[g.element(outer, along, c)];
  a.to[i] = sum / static_cast<float>(end - first);
}

RT_KERNEL(adaptive_average_pool_gradient, AdaptiveAverageArguments, a) {
  const unsigned i = element_number();
  if (i >= a.count) return;
  const AdaptiveGrid& g = a.grid;
  const auto [outer, along, c] = g.place(i);
  const AdaptiveCover<unsigned> cover = g.cover(along);
  float sum = 0;
  if (a.before.pointer) sum = a.before[i];
  for (unsigned k = 0; k < cover.count(); ++k) {
    const auto window = g.window(cover.window(k));
    const float share = a.from[g.pooled(outer, cover.window(k), c)] / static_cast<float>(window.end - window.first);
    sum = sum + (0.0f + share);
  }
  a.to[i] = sum;
}

RT_KERNEL(adaptive_max_pool_u8, AdaptiveMaxArguments<unsigned char>, a) { adaptive_max(a); }
RT_KERNEL(adaptive_max_pool_i32, AdaptiveMaxArguments<int>, a) { adaptive_max(a); }
RT_KERNEL(adaptive_max_pool_gather_u8, AdaptiveGatherArguments<unsigned char>, a) { adaptive_gather(a); }
RT_KERNEL(adaptive_max_pool_gather_i32, AdaptiveGatherArguments<int>, a) { adaptive_gather(a); }
RT_KERNEL(adaptive_max_pool_gradient_u8, AdaptiveWonArguments<unsigned char>, a) { adaptive_won(a); }
RT_KERNEL(adaptive_max_pool_gradient_i32, AdaptiveWonArguments<int>, a) { adaptive_won(a); }

}  // namespace retrace::cuda
