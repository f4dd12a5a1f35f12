// Sums of the rows with the same number: a block makes one row, a thread one column of it.
#include "retrace/base/scalar.h"
#include "retrace/device/cuda/kernel.h"
#include "retrace/ops/gather_rows/gather_rows_cuda.h"

namespace retrace::cuda {
namespace {

constexpr int kOccurrences = 256;  // numerics contract: blocks of occurrences
constexpr int kLevels = 24;        // more than any index has blocks, as a power of two
constexpr int kTile = 256;         // of the index, looked at together
constexpr int kWords = kTile / 32;

// A sum of occurrences in ascending order: blocks from +0, combined as a binary counter.
struct OccurrenceSum {
  float levels[kLevels];
  float sum = 0;
  int in_block = 0, blocks = 0, used = 0;

  RT_DEVICE void add(float x) {
    sum = sum + x;
    if (++in_block == kOccurrences) end_block();
  }
  RT_DEVICE void end_block() {
    for (int carry = blocks++; carry & 1; carry >>= 1) sum = levels[--used] + sum;
    levels[used++] = sum;
    sum = 0, in_block = 0;
  }
  RT_DEVICE float total() {
    if (in_block > 0) end_block();
    if (used == 0) return 0;
    float result = levels[--used];
    while (used > 0) result = levels[--used] + result;
    return result;
  }
};

// One bit for each lane of the warp where the condition holds.
RT_DEVICE unsigned warp_bits(bool condition) {
  unsigned bits = condition ? 1u << (thread().x % 32) : 0u;
  RT_UNROLL
  for (unsigned mask = 1; mask < 32; mask *= 2) bits |= shuffle_xor(bits, mask);
  return bits;
}

}  // namespace

// A number that is no row's is reported by the first block and makes all results NaN: no one can know whose the row
// was.
RT_KERNEL_BOUNDS(scatter_rows, 256, ScatterRowsArguments, a) {
  const auto mine = shared<unsigned>(kWords);
  const auto nobodys = shared<unsigned>(kWords, mine);
  const int t = static_cast<int>(thread().x), threads = static_cast<int>(block_threads().x);
  const auto [row, part] = a.per_row.split(block().x);
  const unsigned column = part * block_threads().x + thread().x;
  OccurrenceSum sum;
  unsigned missing = 0;
  for (long long begin = 0; begin < a.count; begin += kTile) {
    for (int i = t; i < kTile; i += threads) {
      unsigned number = 0;  // a negative one is larger than any row's
      if (begin + i < a.count) number = static_cast<unsigned>(static_cast<int>(a.index[begin + i]));
      const unsigned here = warp_bits(begin + i < a.count && number == row);
      const unsigned nowhere = warp_bits(number >= a.rows);
      if (number >= a.rows && block().x == 0)
        report_error(a.errors, static_cast<unsigned>(begin + i), static_cast<int>(number));
      if (t % 32 == 0) mine[i / 32] = here, nobodys[i / 32] = nowhere;
    }
    barrier();
    for (int word = 0; word < kWords; ++word) {
      missing |= nobodys[word];
      const unsigned bits = mine[word];
      if (bits == 0 || column >= a.width) continue;
      for (int bit = 0; bit < 32; ++bit)
        if (bits >> bit & 1) sum.add(a.x[(begin + word * 32 + bit) * a.width + column]);
    }
    barrier();
  }
  if (column < a.width)
    a.y[static_cast<long long>(row) * a.width + column] = missing ? rules::not_a_number<float>() : sum.total();
}

}  // namespace retrace::cuda
