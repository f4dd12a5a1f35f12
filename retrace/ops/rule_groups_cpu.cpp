#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "retrace/ops/rule_groups_cpu.cpp"
#include "retrace/device/cpu/targets.h"
//
#include "retrace/device/cpu/simd.h"
#include "retrace/ops/add/add_rule.h"
#include "retrace/ops/erf/erf_rule.h"
#include "retrace/ops/exp/exp_rule.h"
#include "retrace/ops/multiply/multiply_rule.h"
#include "retrace/ops/pointwise_loop.h"
#include "retrace/ops/sigmoid/sigmoid_rule.h"
#include "retrace/ops/subtract/subtract_rule.h"
#include "retrace/trace/op.h"

RT_TARGET_BEGIN

// x (c (b + erf(x a)))
struct erf_group_functor {
  float a, b, c;
  template <class V>
  RT_INLINE V operator()(V x) const {
    const V y = erf_rule(multiply_rule(x, V(a)));
    return multiply_rule(x, multiply_rule(V(c), add_rule(V(b), y)));
  }
};
RT_RULE_IS_LONG(erf_group)
void erf_group_tile(const float* const* in, float* out, int64_t count) {
  pointwise_loop(erf_group_functor{*in[1], *in[2], *in[3]}, in, out, count);
}

// x sigmoid(x)
struct sigmoid_group_functor {
  template <class V>
  RT_INLINE V operator()(V x) const {
    return multiply_rule(x, sigmoid_rule(x));
  }
};
RT_RULE_IS_LONG(sigmoid_group)
void sigmoid_group_tile(const float* const* in, float* out, int64_t count) {
  pointwise_loop(sigmoid_group_functor(), in, out, count);
}

// e^(x - a), as a softmax makes it
struct exp_group_functor {
  float a;
  template <class V>
  RT_INLINE V operator()(V x) const {
    return exp_rule(subtract_rule(x, V(a)));
  }
};
void exp_group_tile(const float* const* in, float* out, int64_t count) {
  pointwise_loop(exp_group_functor{*in[1]}, in, out, count);
}

// b e^(x - a), its gradient
struct scaled_exp_group_functor {
  float a, b;
  template <class V>
  RT_INLINE V operator()(V x) const {
    return multiply_rule(V(b), exp_rule(subtract_rule(x, V(a))));
  }
};
void scaled_exp_group_tile(const float* const* in, float* out, int64_t count) {
  pointwise_loop(scaled_exp_group_functor{*in[1], *in[2]}, in, out, count);
}

RT_TARGET_END

#if HWY_ONCE
#include "retrace/ops/pointwise.h"
#include "retrace/ops/rule_groups.h"

namespace retrace {

RT_POINTWISE_RULE(add);
RT_POINTWISE_RULE(erf);
RT_POINTWISE_RULE(exp);
RT_POINTWISE_RULE(multiply);
RT_POINTWISE_RULE(sigmoid);
RT_POINTWISE_RULE(subtract);

RT_EXPORT_KERNEL(erf_group_table, erf_group_tile);
RT_EXPORT_KERNEL(exp_group_table, exp_group_tile);
RT_EXPORT_KERNEL(scaled_exp_group_table, scaled_exp_group_tile);
RT_EXPORT_KERNEL(sigmoid_group_table, sigmoid_group_tile);

std::span<const RuleGroup> rule_groups() {
  static const PointwiseRule* const of_erf[] = {&multiply_pointwise, &erf_pointwise, &add_pointwise,
                                                &multiply_pointwise, &multiply_pointwise};
  static const PointwiseRule* const of_sigmoid[] = {&sigmoid_pointwise, &multiply_pointwise};
  static const PointwiseRule* const of_exp[] = {&subtract_pointwise, &exp_pointwise, &multiply_pointwise};
  static const std::span all_of_exp(of_exp);
  static const RuleGroup all[] = {{of_erf, "n-nnx", erf_group_table.get()},
                                  {of_sigmoid, "-x", sigmoid_group_table.get()},
                                  {all_of_exp, "s-n", scaled_exp_group_table.get()},
                                  {all_of_exp.first(2), "s-", exp_group_table.get()}};
  return all;
}

}  // namespace retrace
#endif
