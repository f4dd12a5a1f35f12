#include "retrace/ops/reduce_cuda.h"

namespace retrace::cuda {
namespace {

using RowSum = SumPolicy<float, float, true>;

// The largest of the values of a row's threads, `strips` times 16; `values` has an element for each thread.
RT_DEVICE float largest_of_row(Shared<float> values, float value, int strips) {
  for (unsigned distance = kLanesOfRow / 2; distance > 0; distance /= 2) {
    const float other = shuffle_xor(value, distance);
    value = other > value ? other : value;
  }
  const int t = static_cast<int>(thread().x), row = t / (kLanesOfRow * strips);
  values[t] = value;
  barrier();
  for (int strip = 0; strip < strips; ++strip) {
    const float other = values[(row * strips + strip) * kLanesOfRow];
    value = other > value ? other : value;
  }
  barrier();
  return value;
}

}  // namespace

// Rows of `positions` elements, `channels` apart; out[0] is y. Items are blocks of 256, in one run.
RT_KERNEL_BOUNDS(softmax_rows, 256, ReduceArguments, a) {
  const auto shared_values = shared<float>(block_threads().x);
  const int t = static_cast<int>(thread().x), lane = t % kLanesOfRow, strip = t / kLanesOfRow % a.strips;
  const int row = t / (kLanesOfRow * a.strips), rows = static_cast<int>(block_threads().x) / (kLanesOfRow * a.strips);
  const long long o = static_cast<long long>(block().x) * rows + row;
  const long long first = static_cast<long long>(strip) * a.per * a.item;
  float values[16];
  const auto load = [&](int i) {
    const long long p = first + i * a.item;
    return load_item<float, true>(a, o, lane, p, o < a.outer && p < a.positions ? smaller(a.item, a.positions - p) : 0,
                                  values);
  };

  float most = -rules::infinity<float>();
  for (int i = 0; i < a.per; ++i) {
    const int present = load(i);
    RT_UNROLL
    for (int j = 0; j < 16; ++j) most = j < present && values[j] > most ? values[j] : most;
  }
  most = largest_of_row(shared_values, most, a.strips);

  ItemTree<RowSum, 16> tree(a.item);
  for (int i = 0; i < a.per; ++i) {
    const int present = load(i);
    float sum = 0.0f;
    RT_UNROLL
    for (int j = 0; j < 16; ++j) sum = sum + (j < present ? rules::exp(values[j] - most) : 0.0f);
    if (first + i * a.item < a.positions) tree.push(sum, a.item);
  }
  float total = tree_of_block<RowSum>(shared_values, tree.root(), kLanesOfRow, strip, a.strips, first, a.per * a.item,
                                      a.positions);
  total = RowSum::fold(total);
  barrier();
  shared_values[t] = total;
  barrier();
  total = shared_values[row * a.strips * kLanesOfRow];

  for (int i = 0; i < a.per; ++i) {
    const int present = load(i);
    RT_UNROLL
    for (int j = 0; j < 16; ++j) {
      const float quotient = rules::exp(values[j] - most) / total;
      if (j < present)
        Global<float>(a.out[0])[element_of(a, o, 0, first + i * a.item + lane + j * kLanesOfRow)] =
            quotient < 0x1p-126f ? 0.0f : quotient;
    }
  }
}

}  // namespace retrace::cuda
