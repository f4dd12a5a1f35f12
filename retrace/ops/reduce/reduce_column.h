// The column rule of docs/numerics.md 3 in vectors: lanes hold 16 channels. A strip of 16 positions has one accumulator
// from +0, in ascending order; the tree is over strips. ColumnSum and ColumnMoments say what a strip yields.
// column_run and column_combine<Policy> are the functions of a ReduceKernels.
#if defined(RETRACE_OPS_REDUCE_COLUMN_H) == defined(HWY_TARGET_TOGGLE)
#ifdef RETRACE_OPS_REDUCE_COLUMN_H
#undef RETRACE_OPS_REDUCE_COLUMN_H
#else
#define RETRACE_OPS_REDUCE_COLUMN_H
#endif

#include "retrace/device/cpu/simd_lanes.h"
#include "retrace/ops/reduce/reduce_short.h"
#include "retrace/ops/reduce/reduce_tree.h"

RT_TARGET_BEGIN

constexpr int kStrip = 16;
constexpr int kStripsAtOnce = 4;  // independent accumulators: as many as hide the latency of an addition
constexpr int kRunLevels = 16;    // a run has at most 2^15 strips
constexpr int kCombineLevels = 48;

// `at(k, i)` loads position i of strip k.
struct ColumnSum {
  struct Value {
    F32 sum;
  };
  static constexpr int kOutputs = 1;
  static RT_INLINE Value empty() { return {F32(0.0f)}; }
  static RT_INLINE Value merge(const Value& a, const Value& b, int64_t, int64_t) { return {a.sum + b.sum}; }
  static RT_INLINE F32* part(Value& value, int) { return &value.sum; }
  template <int strips, class Load>
  static RT_INLINE void strip(Load at, int count, Value* to) {
    F32 sum[strips];
    RT_UNROLL
    for (int k = 0; k < strips; ++k) sum[k] = F32(0.0f);
    for (int i = 0; i < count; ++i) {
      RT_UNROLL
      for (int k = 0; k < strips; ++k) sum[k] = sum[k] + at(k, i);
    }
    RT_UNROLL
    for (int k = 0; k < strips; ++k) to[k].sum = sum[k];
  }
};

struct ColumnMoments {
  struct Value {
    F32 mean, m2;
  };
  static constexpr int kOutputs = 2;
  static RT_INLINE Value empty() { return {F32(0.0f) / F32(0.0f), F32(0.0f)}; }  // mean = sum / 0
  static RT_INLINE Value merge(const Value& a, const Value& b, int64_t count_a, int64_t count_b) {
    Value value = a;
    merge_pairs(value.mean, value.m2, b.mean, b.m2, count_a, count_b);
    return value;
  }
  static RT_INLINE F32* part(Value& value, int i) { return i == 0 ? &value.mean : &value.m2; }
  template <int strips, class Load>
  static RT_INLINE void strip(Load at, int count, Value* to) {
    ColumnSum::Value sums[strips];
    ColumnSum::strip<strips>(at, count, sums);
    F32 mean[strips], m2[strips];
    RT_UNROLL
    for (int k = 0; k < strips; ++k) {
      mean[k] =
          count == kStrip ? sums[k].sum * F32(0.0625f) : sums[k].sum / F32(static_cast<float>(count));  // exact alike
      m2[k] = F32(0.0f);
    }
    for (int i = 0; i < count; ++i) {
      RT_UNROLL
      for (int k = 0; k < strips; ++k) {
        const F32 d = at(k, i) - mean[k];
        m2[k] = fma(d, d, m2[k]);
      }
    }
    RT_UNROLL
    for (int k = 0; k < strips; ++k) to[k] = {mean[k], m2[k]};
  }
};

// One strip of `count` positions. `whole`: every position can be loaded as whole vectors.
template <class Policy, int groups, class X>
RT_INLINE void column_strip(X base, int64_t stride, int count, bool whole, int lanes, typename Policy::Value* values) {
  if (whole) {
    Policy::template strip<groups>(
        [base, stride](int k, int i)
            __attribute__((always_inline)) { return load_elements(base + (i * stride + k * kLanes)); },
        count, values);
  } else {
    Policy::template strip<groups>(
        [base, stride, lanes](int k, int i) __attribute__((always_inline)) {
          return load_elements(base + (i * stride + k * kLanes), k == groups - 1 ? lanes : kLanes);
        },
        count, values);
  }
}

// Sums `groups` vectors of channels from x on over all positions; the last vector has `lanes` channels. Whole vectors
// are loaded where memory up to `end` allows: what stands in surplus lanes reaches no result.
template <class Policy, int groups, class X>
RT_INLINE void column_run_groups(X x, const float* end, int64_t positions, int64_t stride, int lanes,
                                 typename Policy::Value* roots) {
  using Value = typename Policy::Value;
  constexpr int strips = kStripsAtOnce / groups;
  constexpr int level = strips == 4 ? 2 : strips == 2 ? 1 : 0;
  const int64_t last_begin = room_of(x, end) - groups * kLanes;
  const int64_t loadable = last_begin < 0 ? 0 : last_begin / stride + 1;
  const int64_t whole = (loadable < positions ? loadable : positions) / kStrip;
  const int64_t all = (positions + kStrip - 1) / kStrip;

  TreeStack<Policy, kRunLevels> stack[groups];
  for (int g = 0; g < groups; ++g) stack[g].start(kStrip);
  Value values[kStripsAtOnce];
  int64_t strip = 0;
  for (; strip + strips <= whole; strip += strips) {
    const X base = x + strip * kStrip * stride;
    const auto at = [base, stride](int k, int i) __attribute__((always_inline)) {
      return load_elements(base + (((k % strips) * kStrip + i) * stride + k / strips * kLanes));
    };
    Policy::template strip<kStripsAtOnce>(at, kStrip, values);
    RT_UNROLL
    for (int g = 0; g < groups; ++g) {
      Value* of = values + g * strips;
      for (int half = 1; half < strips; half *= 2)
        for (int s = 0; s < strips; s += 2 * half)
          of[s] = Policy::merge(of[s], of[s + half], half * kStrip, half * kStrip);
      stack[g].push(of[0], level);
    }
  }
  int count = 0;  // positions of the last strip, which may be short
  for (; strip < all; ++strip) {
    const X base = x + strip * kStrip * stride;
    count = static_cast<int>(positions - strip * kStrip < kStrip ? positions - strip * kStrip : kStrip);
    column_strip<Policy, groups>(base, stride, count, strip < whole, lanes, values);
    if (strip + 1 == all) break;
    for (int g = 0; g < groups; ++g) stack[g].push(values[g], 0);
  }
  for (int g = 0; g < groups; ++g) roots[g] = stack[g].root(strip < all ? values + g : nullptr, count);
}

template <class Policy, int groups, class X>
RT_INLINE int64_t column_run_channels(X x, const float* end, int64_t positions, int64_t stride, int64_t channels,
                                      int64_t c, float* slot, int64_t slot_width) {
  typename Policy::Value roots[groups];
  for (; c < channels && (groups == 1 || c + groups * kLanes <= channels); c += groups * kLanes) {
    const int lanes = channels - c < kLanes ? static_cast<int>(channels - c) : kLanes;
    column_run_groups<Policy, groups>(x + c, end, positions, stride, lanes, roots);
    for (int g = 0; g < groups; ++g)
      for (int i = 0; i < Policy::kOutputs; ++i)
        store(*Policy::part(roots[g], i), slot + i * slot_width + c + g * kLanes);
  }
  return c;
}

// A slot holds each output of all channels, rounded up to whole vectors.
RT_INLINE int64_t column_slot_width(int64_t channels) { return (channels + kLanes - 1) / kLanes * kLanes; }
template <class Policy>
int64_t column_slot_size(int64_t channels) {
  return Policy::kOutputs * column_slot_width(channels);
}

template <class Policy, class X = const float*>
void column_run(X x, const float* end, int64_t positions, int64_t channels, int64_t stride, float* slot) {
  const int64_t width = column_slot_width(channels);
  int64_t c = 0;
#if !RT_SIMD_SCALAR
  c = column_run_channels<Policy, 4>(x, end, positions, stride, channels, c, slot, width);
  c = column_run_channels<Policy, 2>(x, end, positions, stride, channels, c, slot, width);
#endif
  column_run_channels<Policy, 1>(x, end, positions, stride, channels, c, slot, width);
}

// Channels c to c + 15 of a slot.
template <class Policy>
RT_INLINE typename Policy::Value column_read(const float* slot, int64_t width, int64_t c) {
  typename Policy::Value value;
  for (int i = 0; i < Policy::kOutputs; ++i) *Policy::part(value, i) = load(slot + i * width + c);
  return value;
}
template <class Policy>
RT_INLINE void column_write(typename Policy::Value root, int64_t channels, int64_t c, float* const* out) {
  const int lanes = channels - c < kLanes ? static_cast<int>(channels - c) : kLanes;
  for (int i = 0; i < Policy::kOutputs; ++i) store_part(*Policy::part(root, i), out[i] + c, lanes);
}

template <class Policy>
void column_combine(const float* slots, int64_t slot_size, int64_t runs, int64_t run_positions, int64_t positions,
                    int64_t channels, float* const* out) {
  const int64_t width = column_slot_width(channels);
  for (int64_t c = 0; c < channels; c += kLanes) {
    TreeStack<Policy, kCombineLevels> stack;
    stack.start(run_positions);
    for (int64_t run = 0; run + 1 < runs; ++run) stack.push(column_read<Policy>(slots + run * slot_size, width, c), 0);
    const auto last = column_read<Policy>(slots + (runs - 1) * slot_size, width, c);
    column_write<Policy>(stack.root(&last, positions - (runs - 1) * run_positions), channels, c, out);
  }
}

template <class Policy>
void column_combine_subtrees(const float* slots, int64_t slot_size, const int8_t* levels, int64_t positions,
                             int64_t channels, float* const* out) {
  const int64_t width = column_slot_width(channels), whole = positions / kStrip;
  const int rest = static_cast<int>(positions % kStrip);
  for (int64_t c = 0; c < channels; c += kLanes) {
    TreeStack<Policy, kCombineLevels> stack;
    stack.start(kStrip);
    for (int64_t strip = 0; strip < whole; strip += int64_t{1} << levels[strip])
      stack.push(column_read<Policy>(slots + strip * slot_size, width, c), levels[strip]);
    if (rest > 0) {
      const auto last = column_read<Policy>(slots + whole * slot_size, width, c);
      column_write<Policy>(stack.root(&last, rest), channels, c, out);
    } else {
      column_write<Policy>(stack.root(nullptr, 0), channels, c, out);
    }
  }
}

// Channels c, c + 1, ... of one strip, `groups` vectors at a time as long as there are so many; returns the first one
// that is left.
template <class Policy, int groups, class X>
RT_INLINE int64_t short_column(X x, int64_t loadable, int count, int64_t channels, int64_t stride, int64_t c,
                               float* const* out) {
  typename Policy::Value values[groups];
  for (; c < channels && (groups == 1 || c + groups * kLanes <= channels); c += groups * kLanes) {
    const int lanes = channels - c < kLanes ? static_cast<int>(channels - c) : kLanes;
    const bool whole = (count - 1) * stride + c + groups * kLanes <= loadable;
    column_strip<Policy, groups>(x + c, stride, count, whole, lanes, values);
    for (int g = 0; g < groups; ++g)
      for (int i = 0; i < Policy::kOutputs; ++i) {
        float* const to = out[i] + c + g * kLanes;
        if (groups > 1 || lanes == kLanes)
          store(*Policy::part(values[g], i), to);
        else
          store_part(*Policy::part(values[g], i), to, lanes);
      }
  }
  return c;
}

// `columns` of a ReduceKernels: one strip is its own root.
template <class Policy, class X = const float*>
void short_columns(X x, const float* end, int64_t outer, int64_t distance, int64_t positions, int64_t channels,
                   int64_t stride, float* const* out) {
  float* to[Policy::kOutputs];
  for (int i = 0; i < Policy::kOutputs; ++i) to[i] = out[i];
  const int count = static_cast<int>(positions);
  for (int64_t o = 0; o < outer; ++o, x = x + distance) {
    int64_t c = 0;
#if !RT_SIMD_SCALAR
    c = short_column<Policy, 4>(x, room_of(x, end), count, channels, stride, c, to);
    c = short_column<Policy, 2>(x, room_of(x, end), count, channels, stride, c, to);
#endif
    short_column<Policy, 1>(x, room_of(x, end), count, channels, stride, c, to);
    for (int i = 0; i < Policy::kOutputs; ++i) to[i] += channels;
  }
}

struct ShortStripSum {
  template <class V>
  RT_INLINE V operator()(const V* position) const {
    const AddLanes add;
    return add(add(add(position[0], position[1]), position[2]), position[3]);
  }
};

// Position p of 16 rows.
template <class X>
RT_INLINE F32 strip_element(X x, int64_t distance, int64_t p) {
  alignas(64) float all[kLanes];
  for (int l = 0; l < kLanes; ++l) all[l] = element_at(x + (l * distance + p));
  return load(all);
}

// `rows` of a ReduceKernels: sums of one strip each, 16 side by side.
template <class X = const float*>
void strip_sums(X x, int64_t distance, int64_t rows, int64_t positions, float* const* out) {
  int64_t row = 0;
  float* to = out[0];
  for (; row + kLanes <= rows; row += kLanes, x = x + kLanes * distance, to += kLanes) {
    if (distance == positions && fold_short_rows(x, static_cast<int>(positions), ShortStripSum(), to)) continue;
    F32 sum(0.0f);
    for (int64_t p = 0; p < positions; ++p) sum = sum + strip_element(x, distance, p);
    store(sum, to);
  }
  for (; row < rows; ++row, x = x + distance, ++to) {
    float sum = 0;
    for (int64_t p = 0; p < positions; ++p) sum += element_at(x + p);
    *to = sum;
  }
}

RT_TARGET_END
#endif
