// The row rule of docs/numerics.md 3 in vectors: a block of 256 elements has 16 lanes, each from +0 in ascending order.
// RowSum keeps the lanes through the tree over blocks and folds them once; RowMoments folds those of each block.
// row_run, row_combine and row_rows<Policy> are the functions of a ReduceKernels (one channel, stride 1).
#if defined(RETRACE_OPS_REDUCE_ROW_H) == defined(HWY_TARGET_TOGGLE)
#ifdef RETRACE_OPS_REDUCE_ROW_H
#undef RETRACE_OPS_REDUCE_ROW_H
#else
#define RETRACE_OPS_REDUCE_ROW_H
#endif

#include "retrace/device/cpu/simd_lanes.h"
#include "retrace/ops/reduce/reduce_short.h"
#include "retrace/ops/reduce/reduce_tree.h"

RT_TARGET_BEGIN

constexpr int kBlock = 256;
constexpr int kBlocksAtOnce = 4;
constexpr int kRunBlockLevels = 8;  // a run has at most 2^7 blocks
constexpr int kRowLevels = 48;      // of any length

// v in its first n lanes, else +0.
RT_INLINE F32 first_lanes(F32 v, int n) {
  alignas(64) static constexpr int32_t lane[kLanes] = {0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15};
  return select(less(load_int(lane), I32(n)), v, F32(0.0f));
}

// Where the elements of a row lie: vector(i) loads 16 from element i (a multiple of 16) on, part(i, n) the first n of
// them, and from(i) is the row from there on. Here one behind another.
template <class X>
struct WholeRow {
  X x;
  RT_INLINE F32 vector(int64_t i) const { return load_elements(x + i); }
  RT_INLINE F32 part(int64_t i, int n) const { return load_elements(x + i, n); }
  RT_INLINE WholeRow from(int64_t i) const { return {x + i}; }
};
// In segments of 8 that are `stride` apart.
struct RowOfHalves {
  const float* x;
  int64_t stride;
  RT_INLINE F32 vector(int64_t i) const { return load_halves(at(i), at(i) + stride); }
  RT_INLINE F32 part(int64_t i, int n) const { return load_part(at(i), n); }  // n is 8
  RT_INLINE RowOfHalves from(int64_t i) const { return {at(i), stride}; }
  RT_INLINE const float* at(int64_t i) const { return x + i / 8 * stride; }
};
// In segments of 16.
struct RowOfVectors {
  const float* x;
  int64_t stride;
  RT_INLINE F32 vector(int64_t i) const { return load(at(i)); }
  RT_INLINE F32 part(int64_t i, int n) const { return load_part(at(i), n); }  // there is none
  RT_INLINE RowOfVectors from(int64_t i) const { return {at(i), stride}; }
  RT_INLINE const float* at(int64_t i) const { return x + i / kLanes * stride; }
};

// Sums of the lanes of `blocks` neighbouring blocks of `count` elements each (256 unless blocks = 1), of values made
// by f(x, lanes present). Adding +0 for an absent element changes no sum that began with +0.
template <int blocks, class Row, class F>
RT_INLINE void block_lanes(Row x, int count, F f, F32* to) {
  RT_UNROLL
  for (int k = 0; k < blocks; ++k) to[k] = F32(0.0f);
  int i = 0;
  for (; i + kLanes <= count; i += kLanes) {
    RT_UNROLL
    for (int k = 0; k < blocks; ++k) to[k] = f(to[k], x.vector(k * kBlock + i), k, kLanes);
  }
  if (i < count) to[0] = f(to[0], x.part(i, count - i), 0, count - i);
}

// The lanes of the sum of a block.
template <class X>
RT_INLINE F32 lanes_of_block(X x, int count) {
  F32 sum;
  block_lanes<1>(
      WholeRow<X>{x}, count, [](F32 acc, F32 v, int, int) __attribute__((always_inline)) { return acc + v; }, &sum);
  return sum;
}

// The same of 16 rows of at most a block.
template <class X>
RT_INLINE void lanes_of_rows(X x, int64_t distance, int count, F32* sums) {
  if (count <= kLanes) {
    RT_UNROLL
    for (int row = 0; row < kLanes; ++row) sums[row] = F32(0.0f) + load_elements(x + row * distance, count);
  } else {
    for (int row = 0; row < kLanes; ++row) sums[row] = lanes_of_block(x + row * distance, count);
  }
}

// The lanes of the sum of the squares of x - mean.
RT_INLINE F32 squares_of_block(const float* x, int count, F32 mean) {
  const auto add_square = [mean](F32 acc, F32 v, int, int present) __attribute__((always_inline)) {
    const F32 d = present < kLanes ? first_lanes(v - mean, present) : v - mean;
    return fma(d, d, acc);
  };
  if (count <= kLanes) return add_square(F32(0.0f), load_part(x, count), 0, count);
  F32 sum;
  block_lanes<1>(WholeRow<const float*>{x}, count, add_square, &sum);
  return sum;
}

// Lanes 0 and 2, and 1 and 3 of a short row are added first.
struct ShortRowSum {
  template <class V>
  RT_INLINE V operator()(const V* lane) const {
    const AddLanes add;
    return add(add(lane[0], lane[2]), add(lane[1], lane[3]));
  }
};

struct RowSum {
  struct Value {
    F32 lanes;
  };
  static constexpr int kOutputs = 1, kSlot = kLanes;
  static RT_INLINE Value empty() { return {F32(0.0f)}; }
  static RT_INLINE Value merge(const Value& a, const Value& b, int64_t, int64_t) { return {a.lanes + b.lanes}; }
  template <int blocks, class Row>
  static RT_INLINE void block(Row x, int count, Value* to) {
    F32 sum[blocks];
    block_lanes<blocks>(x, count, [](F32 acc, F32 v, int, int) __attribute__((always_inline)) { return acc + v; }, sum);
    for (int k = 0; k < blocks; ++k) to[k].lanes = sum[k];
  }
  static RT_INLINE void write(const Value& value, float* slot) { store(value.lanes, slot); }
  static RT_INLINE Value read(const float* slot) { return {load(slot)}; }
  static RT_INLINE void finish(const Value& root, float* const* out) { *out[0] = sum_lanes(root.lanes); }
  // Of 16 rows of at most a block.
  template <class X>
  static RT_INLINE void blocks(X x, int64_t distance, int count, float* const* out) {
    if (distance == count && fold_short_rows(x, count, ShortRowSum(), out[0])) return;
    F32 sums[kLanes];
    lanes_of_rows(x, distance, count, sums);
    store(sums_of_rows(sums), out[0]);
  }
};

struct RowMoments {
  struct Value {
    float mean, m2;
  };
  static constexpr int kOutputs = 2, kSlot = kLanes;
  static RT_INLINE Value empty() {
    const float zero = 0;
    return {zero / zero, zero};  // mean = sum / 0
  }
  static RT_INLINE Value merge(const Value& a, const Value& b, int64_t count_a, int64_t count_b) {
    Value value = a;
    merge_pairs(value.mean, value.m2, b.mean, b.m2, count_a, count_b);
    return value;
  }
  template <int blocks, class Row>
  static RT_INLINE void block(Row x, int count, Value* to) {
    F32 sum[blocks], m2[blocks];
    block_lanes<blocks>(x, count, [](F32 acc, F32 v, int, int) __attribute__((always_inline)) { return acc + v; }, sum);
    for (int k = 0; k < blocks; ++k) to[k].mean = sum_lanes(sum[k]) / static_cast<float>(count);
    block_lanes<blocks>(
        x, count,
        [to](F32 acc, F32 v, int k, int present) __attribute__((always_inline)) {
          F32 d = v - F32(to[k].mean);
          if (present < kLanes) d = first_lanes(d, present);
          return fma(d, d, acc);
        },
        m2);
    for (int k = 0; k < blocks; ++k) to[k].m2 = sum_lanes(m2[k]);
  }
  static RT_INLINE void write(const Value& value, float* slot) { slot[0] = value.mean, slot[1] = value.m2; }
  static RT_INLINE Value read(const float* slot) { return {slot[0], slot[1]}; }
  static RT_INLINE void finish(const Value& root, float* const* out) { *out[0] = root.mean, *out[1] = root.m2; }
  static RT_INLINE void blocks(const float* x, int64_t distance, int count, float* const* out) {
    F32 sums[kLanes];
    lanes_of_rows(x, distance, count, sums);
    alignas(64) float mean[kLanes];
    store(sums_of_rows(sums) / F32(static_cast<float>(count)), mean);
    for (int row = 0; row < kLanes; ++row) sums[row] = squares_of_block(x + row * distance, count, F32(mean[row]));
    store(load(mean), out[0]);
    store(sums_of_rows(sums), out[1]);
  }
};

// The root over `count` elements, at most 2^(levels - 1) blocks of them.
template <class Policy, int levels, class Row>
RT_INLINE typename Policy::Value row_root(Row x, int64_t count) {
  TreeStack<Policy, levels> stack;
  stack.start(kBlock);
  typename Policy::Value values[kBlocksAtOnce];
  int64_t i = 0;
#if RT_SIMD_SCALAR
  for (; i + kBlock < count; i += kBlock) {
    Policy::template block<1>(x.from(i), kBlock, values);
    stack.push(values[0], 0);
  }
#else
  for (; i + kBlocksAtOnce * kBlock < count; i += kBlocksAtOnce * kBlock) {
    Policy::template block<kBlocksAtOnce>(x.from(i), kBlock, values);
    for (int k = 0; k < kBlocksAtOnce; ++k) stack.push(values[k], 0);
  }
  if (i + 2 * kBlock < count) {
    Policy::template block<2>(x.from(i), kBlock, values);
    stack.push(values[0], 0), stack.push(values[1], 0);
    i += 2 * kBlock;
  }
  if (i + kBlock < count) {
    Policy::template block<1>(x.from(i), kBlock, values);
    stack.push(values[0], 0);
    i += kBlock;
  }
#endif
  if (count == 0) return Policy::empty();
  Policy::template block<1>(x.from(i), static_cast<int>(count - i), values);
  return stack.root(values, count - i);
}

template <class Policy>
int64_t row_slot_size(int64_t) {
  return Policy::kSlot;
}

template <class Policy, class X = const float*>
void row_run(X x, const float*, int64_t positions, int64_t, int64_t, float* slot) {
  Policy::write(row_root<Policy, kRunBlockLevels>(WholeRow<X>{x}, positions), slot);
}

template <class Policy>
void row_combine(const float* slots, int64_t slot_size, int64_t runs, int64_t run_positions, int64_t positions, int64_t,
                 float* const* out) {
  TreeStack<Policy, kRowLevels> stack;
  stack.start(run_positions);
  for (int64_t run = 0; run + 1 < runs; ++run) stack.push(Policy::read(slots + run * slot_size), 0);
  const auto last = Policy::read(slots + (runs - 1) * slot_size);
  Policy::finish(stack.root(&last, positions - (runs - 1) * run_positions), out);
}

// `segments` of a ReduceKernels.
template <class Policy>
bool row_segments(const float* x, int64_t length, int64_t stride, int64_t positions, float* slot) {
  if (length == 8)
    Policy::write(row_root<Policy, kRunBlockLevels>(RowOfHalves{x, stride}, positions), slot);
  else if (length == kLanes)
    Policy::write(row_root<Policy, kRunBlockLevels>(RowOfVectors{x, stride}, positions), slot);
  return length == 8 || length == kLanes;
}

// Rows of at most a run, `distance` apart; row r goes to out[i][r].
template <class Policy, class X = const float*>
void row_rows(X x, int64_t distance, int64_t rows, int64_t positions, float* const* out) {
  int64_t row = 0;
  float* to[Policy::kOutputs];
  const auto next = [&] {
    for (int i = 0; i < Policy::kOutputs; ++i) to[i] = out[i] + row;
  };
  if (positions > 0 && positions <= kBlock)
    for (; row + kLanes <= rows; row += kLanes)
      next(), Policy::blocks(x + row * distance, distance, static_cast<int>(positions), to);
  for (; row < rows; ++row)
    next(), Policy::finish(row_root<Policy, kRunBlockLevels>(WholeRow<X>{x + row * distance}, positions), to);
}

RT_TARGET_END
#endif
