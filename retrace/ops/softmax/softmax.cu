#include "retrace/ops/reduce/reduce_cuda.h"

namespace retrace::cuda {
namespace {

using RowSum = SumPolicy<float, float, true>;

// The largest of the values of a row's threads, 2^row_bits: 16 for each strip; `values` has an element for each thread.
RT_DEVICE float largest_of_row(Shared<float> values, float value, int row_bits) {
  for (unsigned distance = kLanesOfRow / 2; distance > 0; distance /= 2) {
    const float other = shuffle_xor(value, distance);
    value = other > value ? other : value;
  }
  const int t = static_cast<int>(thread().x), row = t >> row_bits, strips = 1 << (row_bits - 4);
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
  const auto values = shared<float>(block_threads().x);
  const int t = static_cast<int>(thread().x), lane = t % kLanesOfRow, strip = t / kLanesOfRow & (a.strips - 1);
  const int row_bits = a.lane_bits + a.strip_bits, row = t >> row_bits;
  const int rows = static_cast<int>(block_threads().x) >> row_bits;
  const long long o = static_cast<long long>(block().x) * rows + row, start = offset_of(a.outer_axes, o);
  const long long first = static_cast<long long>(strip) * a.per * a.item;
  const long long end = o < a.outer ? smaller(first + a.per * a.item, a.positions) : 0;
  const Global<const float> x(a.x);
  const Global<float> y(a.out[0]);

  float most = -rules::infinity<float>();
  for (long long p = first + lane; p < end; p += kLanesOfRow) {
    const float value = x[start + p * a.channels];
    most = value > most ? value : most;
  }
  most = largest_of_row(values, most, row_bits);

  ItemTree<RowSum, 16> tree(a.item);
  for (long long begin = first; begin < end; begin += a.item) {
    float sum = 0.0f;
    for (long long p = begin + lane; p < smaller(end, begin + a.item); p += kLanesOfRow) {
      const float power = rules::exp(x[start + p * a.channels] - most);
      y[start + p * a.channels] = power;
      sum = sum + power;
    }
    tree.push(sum, a.item);
  }
  float total =
      tree_of_block<RowSum>(values, tree.root(), kLanesOfRow, strip, a.strips, first, a.per * a.item, a.positions);
  total = RowSum::fold(total);
  barrier();
  values[t] = total;
  barrier();
  total = values[row * a.strips * kLanesOfRow];

  for (long long p = first + lane; p < end; p += kLanesOfRow) {
    const float quotient = y[start + p * a.channels] / total;
    y[start + p * a.channels] = quotient < 0x1p-126f ? 0.0f : quotient;
  }
}

}  // namespace retrace::cuda
