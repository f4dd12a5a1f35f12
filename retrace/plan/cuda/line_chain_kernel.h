#pragma once
// What the generated kernel of a chain of lines is made of (cuda_lines.h), besides how threads hold a line
// (retrace/ops/line_cuda.h). Sums over all lines are taken by the block that comes last, of what all have written.

#include "retrace/device/cuda/last_block.h"
#include "retrace/ops/line_cuda.h"
#include "retrace/ops/reduce/reduce_cuda.h"
#include "retrace/plan/cuda/line_chain_arguments.h"

namespace retrace::cuda {

// Whether this block is to add up the lines; it sees what all have written. All threads of the block come.
RT_DEVICE bool sums_lines(const LineChainArguments& a, Shared<unsigned> last) {
  if (a.blocks > 1) return comes_last(Global<unsigned>(a.counter), a.blocks, last);
  barrier();
  return true;
}

// The sum of `width` lanes over `positions`, in items of so many; item_sum(lane, p, count) is that of the item from
// position p on. The threads of the first `width` have it. There are at most 31 items for each `lanes` threads of the
// block, which all come; `values` has an element for each.
template <int threads, int lanes, int width, int item, class Item>
RT_DEVICE float sum_of_lanes(Shared<float> values, int positions, Item item_sum) {
  using Sum = SumPolicy<float, float, false>;
  const int t = static_cast<int>(thread().x), lane = t % lanes, strip = t / lanes;
  constexpr int strips = threads / lanes;
  int per = 1;
  while (per * strips * item < positions) per *= 2;
  ItemTree<Sum, 5> tree(item);
  RT_LOOP
  for (int i = 0; i < per; ++i) {
    const int p = (strip * per + i) * item;
    const int count = lane < width && p < positions ? static_cast<int>(smaller(item, positions - p)) : 0;
    tree.push(item_sum(lane, p, count), count);
  }
  barrier();
  return tree_of_block<Sum>(values, tree.root(), lanes, strip, strips, static_cast<long long>(strip) * per * item,
                            static_cast<long long>(per) * item, positions);
}

// The sums of each of the `features` elements of so many lines, by the column rule: docs/numerics.md 3. `lanes`, a
// power of two, are at least as many.
template <int threads, int lanes, int features>
RT_DEVICE void sum_columns_of_lines(Shared<float> values, Global<const float> x, int lines, Global<float> out) {
  const float total =
      sum_of_lanes<threads, lanes, features, 16>(values, lines, [&](int feature, int p, int count) -> float {
        float sum = 0.0f;
        RT_UNROLL
        for (int i = 0; i < 16; ++i)
          if (i < count) sum = sum + x[(p + i) * features + feature];
        return sum;
      });
  if (static_cast<int>(thread().x) < features) out[thread().x] = total;
}

// The sum of all `count` elements, by the row rule.
template <int threads>
RT_DEVICE void sum_all_of_lines(Shared<float> values, Global<const float> x, int count, Global<float> out) {
  float total =
      sum_of_lanes<threads, kLanesOfRow, kLanesOfRow, 256>(values, count, [&](int lane, int p, int there) -> float {
        float sum = 0.0f;
        RT_UNROLL
        for (int i = 0; i < 16; ++i)
          if (lane + i * kLanesOfRow < there) sum = sum + x[p + lane + i * kLanesOfRow];
        return sum;
      });
  total = fold_lanes(total);
  if (thread().x == 0) out[0] = total;
}

}  // namespace retrace::cuda
