// The tree of docs/numerics.md 0 over the items of a sum, as a binary counter: level l holds a complete subtree of
// 2^l items, or nothing. A Policy states Value, merge(left, right, positions of left, of right) and empty().
#if defined(RETRACE_OPS_REDUCE_TREE_H) == defined(HWY_TARGET_TOGGLE)
#ifdef RETRACE_OPS_REDUCE_TREE_H
#undef RETRACE_OPS_REDUCE_TREE_H
#else
#define RETRACE_OPS_REDUCE_TREE_H
#endif

#include <cstdint>

#include "retrace/device/cpu/simd.h"

// After simd.h: fma on float.
#include "retrace/base/scalar.h"

RT_TARGET_BEGIN

template <class Policy, int levels>
class TreeStack {
 public:
  using Value = typename Policy::Value;
  RT_INLINE void start(int64_t item) { item_ = item; }  // positions of an item

  // Adds the complete subtree of the next 2^level items.
  RT_INLINE_VECTORS void push(Value value, int level) {
    for (; (full_ >> level) & 1; ++level) {
      value = Policy::merge(nodes_[level], value, item_ << level, item_ << level);
      full_ ^= uint64_t{1} << level;
    }
    nodes_[level] = value;
    full_ |= uint64_t{1} << level;
  }

  // The root. `last`: one more item of `positions` positions, which may be fewer than those of an item; null if none.
  RT_INLINE_VECTORS Value root(const Value* last, int64_t positions) const {
    Value value = last ? *last : Policy::empty();
    bool any = last != nullptr;
    for (uint64_t left = full_; left != 0; left &= left - 1) {
      const int level = __builtin_ctzll(left);
      value = any ? Policy::merge(nodes_[level], value, item_ << level, positions) : nodes_[level];
      positions = any ? positions + (item_ << level) : item_ << level;
      any = true;
    }
    return value;
  }

 private:
  int64_t item_ = 0;
  uint64_t full_ = 0;
  Value nodes_[levels];
};

// The merge of two pairs (mean, M2), V = F32 or float; each operation is rounded as written.
template <class V>
RT_INLINE void merge_pairs(V& mean, V& m2, V mean_b, V m2_b, int64_t count_a, int64_t count_b) {
  const float a = static_cast<float>(count_a), b = static_cast<float>(count_b),
              n = static_cast<float>(count_a + count_b);
  const float r = b / n, weight = a * r;
  const V delta = mean_b - mean;
  mean = fma(delta, V(r), mean);
  m2 = (m2 + m2_b) + (delta * delta) * V(weight);
}

RT_TARGET_END
#endif
