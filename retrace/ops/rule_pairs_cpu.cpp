#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "retrace/ops/rule_pairs_cpu.cpp"
#include "retrace/device/cpu/targets.h"
//
#include "retrace/device/cpu/simd.h"
#include "retrace/ops/add/add_rule.h"
#include "retrace/ops/multiply/multiply_rule.h"
#include "retrace/ops/pointwise_loop.h"
#include "retrace/ops/subtract/subtract_rule.h"
#include "retrace/trace/op.h"

RT_TARGET_BEGIN

// `second` sees r, the result of `first`, and c.
#undef RT_RULE_PAIR
#define RT_RULE_PAIR(name, first, second)                                    \
  struct name##_pair {                                                       \
    template <class V>                                                       \
    RT_INLINE V operator()(V a, V b, V c) const {                            \
      const V r = first##_rule(a, b);                                        \
      return second;                                                         \
    }                                                                        \
  };                                                                         \
  void name##_pair_tile(const float* const* in, float* out, int64_t count) { \
    pointwise_loop(name##_pair(), in, out, count);                           \
  }
#undef RT_RULE_PAIRS
#define RT_RULE_PAIRS(first)                                 \
  RT_RULE_PAIR(first##_add, first, add_rule(r, c))           \
  RT_RULE_PAIR(first##_subtract, first, subtract_rule(r, c)) \
  RT_RULE_PAIR(first##_from, first, subtract_rule(c, r))     \
  RT_RULE_PAIR(first##_multiply, first, multiply_rule(r, c))
RT_RULE_PAIRS(add)
RT_RULE_PAIRS(subtract)
RT_RULE_PAIRS(multiply)

RT_TARGET_END

#if HWY_ONCE
#include "retrace/ops/pointwise.h"
#include "retrace/ops/rule_pairs.h"

namespace retrace {

RT_POINTWISE_RULE(add);
RT_POINTWISE_RULE(subtract);
RT_POINTWISE_RULE(multiply);

#define RT_EXPORT_PAIRS(first)                                               \
  RT_EXPORT_KERNEL(first##_add_pair_table, first##_add_pair_tile);           \
  RT_EXPORT_KERNEL(first##_subtract_pair_table, first##_subtract_pair_tile); \
  RT_EXPORT_KERNEL(first##_from_pair_table, first##_from_pair_tile);         \
  RT_EXPORT_KERNEL(first##_multiply_pair_table, first##_multiply_pair_tile);
RT_EXPORT_PAIRS(add)
RT_EXPORT_PAIRS(subtract)
RT_EXPORT_PAIRS(multiply)
#undef RT_EXPORT_PAIRS

namespace {

struct PairsOf {
  const PointwiseRule* first;
  const KernelTable<TileFunction>*add, *subtract, *from, *multiply;
};

}  // namespace

TileFunction rule_pair(const PointwiseRule& first, const PointwiseRule& second, int position) {
#define RT_PAIRS_OF(first)                                                                              \
  {&first##_pointwise, &first##_add_pair_table, &first##_subtract_pair_table, &first##_from_pair_table, \
   &first##_multiply_pair_table}
  static const PairsOf all[] = {RT_PAIRS_OF(add), RT_PAIRS_OF(subtract), RT_PAIRS_OF(multiply)};
#undef RT_PAIRS_OF
  for (const PairsOf& pairs : all) {
    if (pairs.first != &first) continue;
    if (&second == &add_pointwise) return pairs.add->get();
    if (&second == &multiply_pointwise) return pairs.multiply->get();
    if (&second == &subtract_pointwise) return position == 0 ? pairs.subtract->get() : pairs.from->get();
  }
  return nullptr;
}

}  // namespace retrace
#endif
