#pragma once
// Reductions on a CUDA device, by the column or the row rule of docs/numerics.md 3: what the kernels of sum, moments,
// max and softmax are made of. In both rules 16 elements of a lane make an item's value in one thread: 16 positions of
// a channel, or every sixteenth element of a block of 256. A Policy states
//   Value, by_row, empty(), merge(left, right, positions of left, of right),
//   item(a, o, lane, p, count)   the value of the item from position p on, with `count` positions (0: none); every
//                                thread of a block comes,
//   fold(value)                  by row: what the 16 lanes are together,
//   store(a, o, channel, value)  writes a result.
// `a` is the kernel's argument: a ReduceArguments, or what is derived from one.

#include "retrace/base/scalar.h"
#include "retrace/device/cuda/kernel.h"
#include "retrace/device/cuda/last_block.h"
#include "retrace/ops/reduce/reduce_cuda_arguments.h"

namespace retrace::cuda {

constexpr int kLanesOfRow = 16;

RT_DEVICE long long smaller(long long a, long long b) { return a < b ? a : b; }

RT_DEVICE long long offset_of(const ReduceAxes& axes, long long index) {
  long long offset = 0;
  auto rest = static_cast<unsigned>(index);
  for (int i = axes.count - 1; i > 0; --i) {
    const auto [before, here] = axes.size[i].split(rest);
    offset += here * axes.stride[i];
    rest = before;
  }
  return axes.count > 0 ? offset + rest * axes.stride[0] : 0;
}

// The element of x at position p of row o, channel c.
RT_DEVICE long long element_of(const ReduceArguments& a, long long o, long long c, long long p) {
  const long long start = offset_of(a.outer_axes, o) + c;
  if (a.run == a.positions) return start + p * a.channels;
  const auto [segment, there] = a.by_run.split(static_cast<unsigned>(p));
  return start + offset_of(a.segment_axes, segment) + there * a.channels;
}

// The sum of the 16 lanes of a block of the row rule, in each of them. All lanes of a warp come.
template <class T>
RT_DEVICE T fold_lanes(T value) {
  for (unsigned distance = kLanesOfRow / 2; distance > 0; distance /= 2) value = value + shuffle_xor(value, distance);
  return value;
}

// The tree over items that come in order, at most 2^(levels - 1) of them. Level l holds the complete subtree of 2^l
// items if that bit of `items` is set.
template <class Policy, int levels>
struct ItemTree {
  using Value = typename Policy::Value;
  Value nodes[levels], last = Policy::empty();
  long long item, positions_of_last = 0;
  unsigned items = 0;

  RT_DEVICE explicit ItemTree(long long positions_of_item) : item(positions_of_item) {}

  // An item of `item` positions.
  RT_DEVICE void push(Value value) {
    bool placed = false;
    RT_UNROLL
    for (int level = 0; level < levels; ++level) {
      if (placed) continue;
      if ((items >> level) & 1) {
        value = Policy::merge(nodes[level], value, item << level, item << level);
      } else {
        nodes[level] = value;
        placed = true;
      }
    }
    ++items;
  }
  // The last item may have fewer.
  RT_DEVICE void push_last(Value value, long long positions) { last = value, positions_of_last = positions; }
  RT_DEVICE void push(Value value, long long positions) {
    if (positions == item) {
      push(value);
    } else if (positions > 0) {
      push_last(value, positions);
    }
  }

  RT_DEVICE Value root() const {
    Value value = last;
    long long behind = positions_of_last;
    RT_UNROLL
    for (int level = 0; level < levels; ++level) {
      if (!((items >> level) & 1)) continue;
      if (behind > 0) {
        value = Policy::merge(nodes[level], value, item << level, behind);
      } else {
        value = nodes[level];
      }
      behind += item << level;
    }
    return value;
  }
};

// The elements of this thread's lane in the item from position p on, where all lie without a gap, `step` of them apart
// (the channels, or 16 by row): the first one, and how many there are. Arrays have fewer than 2^32 elements.
struct LaneElements {
  unsigned first;
  int present;
};
template <bool by_row, unsigned step>
RT_DEVICE LaneElements elements_of_lane(const ReduceArguments& a, long long o, long long lane, long long p,
                                        long long count) {
  const int there = static_cast<int>(count), number = static_cast<int>(lane);
  const int present = by_row ? (there - number + kLanesOfRow - 1) / kLanesOfRow : there;
  const unsigned position = static_cast<unsigned>(o) * static_cast<unsigned>(a.positions) + static_cast<unsigned>(p);
  return {position * (by_row ? 1u : step) + static_cast<unsigned>(lane), present > 0 ? present : 0};
}

// The 16 elements of this thread's lane in the item from position p on, zeros where there is none; returns how many.
template <class T, bool by_row>
RT_DEVICE int load_item(const ReduceArguments& a, long long o, long long lane, long long p, long long count,
                        T (&values)[16]) {
  const Global<const T> x(a.x);
  const long long step = by_row ? kLanesOfRow : 1, first = by_row ? p + lane : p, channel = by_row ? 0 : lane;
  const long long present = by_row ? (count - lane + kLanesOfRow - 1) / kLanesOfRow : count;
  const bool dense = a.run == a.positions;
  const long long start = dense ? element_of(a, o, channel, first) : 0;
  long long apart[16];
  for (int i = 0; !dense && i < present; ++i) apart[i] = element_of(a, o, channel, first + i * step);
  RT_UNROLL
  for (int i = 0; i < 16; ++i) {
    values[i] = T(0);
    if (i < present) values[i] = x[dense ? start + i * step * a.channels : apart[i]];
  }
  return present > 0 ? static_cast<int>(present) : 0;
}

// The tree over the values of `strips` threads, `lanes` threads apart: this one's value is that of `span` positions
// from p on. The root comes in strip 0. All threads of the block come; `values` has an element for each.
template <class Policy>
RT_DEVICE typename Policy::Value tree_of_block(Shared<typename Policy::Value> values, typename Policy::Value value,
                                               int lanes, int strip, int strips, long long p, long long span,
                                               long long positions) {
  const int t = static_cast<int>(thread().x);
  values[t] = value;
  for (int half = 1; half < strips; half *= 2) {
    barrier();
    const long long right = p + half * span;
    if ((strip & (2 * half - 1)) != 0 || right >= positions) continue;
    const typename Policy::Value other = values[t + half * lanes];
    value = Policy::merge(value, other, half * span, smaller(half * span, positions - right));
    values[t] = value;
  }
  return value;
}

// The lane of a thread: lane c of `width` of row o, if it is there.
struct ReducePlace {
  long long o, c, width;
  bool there;
};

// The tree over `per` items of x, from item `first` on. All threads of the block come.
template <class Policy, class Arguments>
RT_DEVICE typename Policy::Value tree_of_items(const Arguments& a, const ReducePlace& at, long long first) {
  ItemTree<Policy, 5> tree(a.item);
  RT_LOOP
  for (int i = 0; i < a.per; ++i) {
    const long long p = (first + i) * a.item;
    const long long count = at.there && p < a.positions ? smaller(a.item, a.positions - p) : 0;
    const typename Policy::Value value = Policy::item(a, at.o, at.c, p, count);
    tree.push(value, count);
  }
  return tree.root();
}

// The same over `per` of `parts` parts, from number `first` on, of `span` positions each where `positions` is their
// end; less than 8 << levels. load(i) is part i; eight are loaded at a time, so that the loads do not wait for each
// other.
template <class Policy, int levels = 4, class Load>
RT_DEVICE typename Policy::Value tree_of_parts(int first, int per, int parts, long long span, long long positions,
                                               Load load) {
  constexpr int kBatch = 8;
  ItemTree<Policy, levels> tree(kBatch * span);
  const int end = first + per < parts ? first + per : parts;
  const auto merge_all = [&](typename Policy::Value(&batch)[kBatch], auto count_of_right) {
    RT_UNROLL
    for (int half = 1; half < kBatch; half *= 2) {
      RT_UNROLL
      for (int k = 0; k < kBatch; k += 2 * half)
        if (const long long right = count_of_right(k + half, half); right > 0)
          batch[k] = Policy::merge(batch[k], batch[k + half], half * span, right);
    }
  };
  RT_LOOP
  for (int from = first; from < end; from += kBatch) {
    typename Policy::Value batch[kBatch];
    RT_UNROLL
    for (int k = 0; k < kBatch; ++k) batch[k] = from + k < end ? load(from + k) : Policy::empty();
    if (from + kBatch <= end && from + kBatch < parts) {
      merge_all(batch, [&](int, int half) -> long long { return half * span; });
      tree.push(batch[0]);
    } else {
      const long long left = smaller(positions, end * span) - from * span;
      merge_all(batch, [&](int k, int half) -> long long { return smaller(half * span, left - k * span); });
      tree.push_last(batch[0], left);
    }
  }
  return tree.root();
}

// One pass; its blocks have 256, 512 or 1024 threads, and a Value of shared memory for each, and a number.
template <class Policy, class Arguments>
RT_DEVICE void reduce_pass(const Arguments& a) {
  using Value = typename Policy::Value;
  const int t = static_cast<int>(thread().x), lane = t & (a.lanes - 1), group = t >> a.lane_bits;
  const int strip = group & (a.strips - 1), row_bits = a.lane_bits + a.strip_bits;
  const int rows = static_cast<int>(block_threads().x) >> row_bits;
  const auto [rest, chunk] = a.chunks.split(block().x);
  const auto [row, run] = a.runs.split(rest);
  const unsigned runs = a.runs.divisor;
  ReducePlace at;
  at.o = static_cast<long long>(row) * rows + (t >> row_bits);
  at.c = static_cast<long long>(chunk) * a.lanes + lane;
  at.width = Policy::by_row ? kLanesOfRow : a.channels;
  at.there = at.o < a.outer && at.c < at.width;
  const auto values = shared<Value>(block_threads().x);
  // What a thread combines: `per` of `count` items or parts, of `span` positions each.
  const void* stored = a.parts;
  int per = a.per, count = static_cast<int>(a.items);
  long long span = a.item, first = (static_cast<long long>(run) * a.strips + strip) * per;
  Value value;
  RT_LOOP
  for (bool combining = false;; combining = true) {
    if (stored) {
      const Global<const Value> parts(stored);
      const long long start = at.o * count * at.width + at.c;
      value = tree_of_parts<Policy>(static_cast<int>(first), per, at.there ? count : 0, span, a.positions,
                                    [&](int i) -> Value { return parts[start + i * at.width]; });
    } else {
      value = tree_of_items<Policy>(a, at, first);
    }
    value = tree_of_block<Policy>(values, value, a.lanes, strip, a.strips, first * span, span * per, a.positions);
    if (combining || runs == 1) break;
    if (at.there && strip == 0) Global<Value>(a.runs_out)[(at.o * runs + run) * at.width + at.c] = value;
    if (a.combine == 0) return;
    const Global<unsigned> counter = Global<unsigned>(a.counters) + (row * a.chunks.divisor + chunk);
    if (!comes_last(counter, runs, shared<unsigned>(1, values))) return;
    stored = a.runs_out, count = static_cast<int>(runs), span = span * per * a.strips, per = a.combine;
    first = static_cast<long long>(strip) * per;
  }
  value = Policy::fold(value);
  if (at.there && strip == 0 && (!Policy::by_row || lane == 0))
    Policy::store(a, at.o, Policy::by_row ? 0 : at.c, value);
}

// Sums in Total, of elements of type T.
template <class T, class Total, bool row>
struct SumPolicy {
  using Value = Total;
  static constexpr bool by_row = row;
  static RT_DEVICE Value empty() { return Total(0); }
  static RT_DEVICE Value merge(Value a, Value b, long long, long long) { return a + b; }
  static RT_DEVICE Value item(const ReduceArguments& a, long long o, long long lane, long long p, long long count) {
    T values[16];
    load_item<T, row>(a, o, lane, p, count, values);
    Total sum(0);
    RT_UNROLL
    for (int i = 0; i < 16; ++i) sum = sum + static_cast<Total>(values[i]);  // what began with +0 stays through + 0
    return sum;
  }
  static RT_DEVICE Value fold(Value value) {
    if constexpr (row) return fold_lanes(value);
    return value;
  }
  static RT_DEVICE void store(const ReduceArguments& a, long long o, long long c, Value value) {
    Global<Total>(a.out[0])[o * a.channels + c] = value;
  }
};

}  // namespace retrace::cuda
