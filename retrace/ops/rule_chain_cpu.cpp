#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "retrace/ops/rule_chain_cpu.cpp"
#include "retrace/device/cpu/targets.h"
//
#include <algorithm>

#include "retrace/device/cpu/simd.h"
#include "retrace/ops/abs/abs_rule.h"
#include "retrace/ops/add/add_rule.h"
#include "retrace/ops/cast/widen_rule.h"
#include "retrace/ops/compare/equal_rule.h"
#include "retrace/ops/compare/greater_equal_rule.h"
#include "retrace/ops/compare/greater_rule.h"
#include "retrace/ops/compare/less_equal_rule.h"
#include "retrace/ops/compare/less_rule.h"
#include "retrace/ops/compare/not_equal_rule.h"
#include "retrace/ops/divide/divide_rule.h"
#include "retrace/ops/maximum/maximum_rule.h"
#include "retrace/ops/maximum/minimum_rule.h"
#include "retrace/ops/multiply/multiply_rule.h"
#include "retrace/ops/negate/negate_rule.h"
#include "retrace/ops/relu/relu_rule.h"
#include "retrace/ops/rule_chain.h"
#include "retrace/ops/rule_rows.h"
#include "retrace/ops/sqrt/sqrt_rule.h"
#include "retrace/ops/square/square_rule.h"
#include "retrace/ops/subtract/subtract_rule.h"
#include "retrace/ops/where/where_rule.h"

#ifndef RETRACE_OPS_RULE_CHAIN_CODES
#define RETRACE_OPS_RULE_CHAIN_CODES
// Rules that take the registers alone, besides widen, which changes nothing; on either side alike; on the left or on
// the right; at each of three places.
#define RT_CHAIN_ALONE(each) each(abs) each(negate) each(relu) each(sqrt) each(square)
#define RT_CHAIN_ALIKE(each) each(add) each(multiply) each(equal) each(not_equal)
#define RT_CHAIN_SIDED(each) \
  each(subtract) each(divide) each(maximum) each(minimum) each(less) each(less_equal) each(greater) each(greater_equal)
namespace retrace {
namespace {
// Each of a rule is followed by those for an operand of one number and of one number a row.
enum ChainCodes : ChainCode {
  end_code = kChainEnd,
  store_code = kChainStore,
  load_code = kChainLoad,
#define RT_CODE(name) name##_code, name##_equal_code, name##_rows_code,
#define RT_CODES(name) RT_CODE(name##_left) RT_CODE(name##_right)
  load_equal_code,
  load_rows_code,
  RT_CODE(widen) RT_CHAIN_ALONE(RT_CODE) RT_CHAIN_ALIKE(RT_CODE) RT_CHAIN_SIDED(RT_CODES) RT_CODE(where_0)
      RT_CODE(where_1) RT_CODE(where_2)
};
#undef RT_CODE
#undef RT_CODES
}  // namespace
}  // namespace retrace
#endif

RT_TARGET_BEGIN

// Vectors in registers at a time: half of the registers, so that the other half is for operands.
constexpr int kChainVectors = RT_SIMD_SCALAR ? 1 : kVectorRegisters >= 32 ? 8 : kVectorRegisters / 2;
constexpr int64_t kChainBatch = kChainVectors * kLanes;
static_assert(kChainBatch <= kMostChainBatch);

// The numbers of an operand from `at` on; of the last batch only `count` are there.
template <bool partial>
struct ChainOperand {
  const float* from;
  int count;
  RT_INLINE F32 operator[](int v) const {
    return partial ? load_part(from + v * kLanes, count - v * kLanes) : load(from + v * kLanes);
  }
};

template <class F>
RT_INLINE void chain_alone(F32* acc, F f) {
  RT_UNROLL
  for (int v = 0; v < kChainVectors; ++v) acc[v] = f(acc[v]);
}

// f(acc, operand 0)
template <bool partial, class F>
RT_INLINE void chain_step(const ChainLink& link, int64_t at, int count, F32* acc, F f) {
  const ChainOperand<partial> b{link.from[0] + at, count};
  RT_UNROLL
  for (int v = 0; v < kChainVectors; ++v) acc[v] = f(acc[v], b[v]);
}
// The same where it is one number.
template <class F>
RT_INLINE void chain_step_of_equal(const ChainLink& link, F32* acc, F f) {
  const F32 b(*link.from[0]);
  RT_UNROLL
  for (int v = 0; v < kChainVectors; ++v) acc[v] = f(acc[v], b);
}

// The same where it is one number a row; without rows no link comes here.
template <bool with_rows, class F>
RT_INLINE void chain_step_of_rows(const ChainLink& link, const ChainRows& rows, const RowPlace& place, F32* acc, F f) {
  if constexpr (with_rows) {
    const RowNumbers b(link.from[0], rows, place);
    RT_UNROLL
    for (int v = 0; v < kChainVectors; ++v) acc[v] = f(acc[v], b(v * kLanes));
  }
}

template <bool partial, class F>
RT_INLINE void chain_choice(const ChainLink& link, int64_t at, int count, F32* acc, F f) {
  const bool b_is_equal = link.read[0] == ChainRead::equal, c_is_equal = link.read[1] == ChainRead::equal;
  const ChainOperand<partial> b{link.from[0] + (b_is_equal ? 0 : at), count};
  const ChainOperand<partial> c{link.from[1] + (c_is_equal ? 0 : at), count};
  const F32 equal_b(*link.from[0]), equal_c(*link.from[1]);
  if (b_is_equal && c_is_equal) {
    RT_UNROLL
    for (int v = 0; v < kChainVectors; ++v) acc[v] = f(acc[v], equal_b, equal_c);
  } else if (b_is_equal) {
    RT_UNROLL
    for (int v = 0; v < kChainVectors; ++v) acc[v] = f(acc[v], equal_b, c[v]);
  } else if (c_is_equal) {
    RT_UNROLL
    for (int v = 0; v < kChainVectors; ++v) acc[v] = f(acc[v], b[v], equal_c);
  } else {
    RT_UNROLL
    for (int v = 0; v < kChainVectors; ++v) acc[v] = f(acc[v], b[v], c[v]);
  }
}

// All links for whole batches from `at` on, or for the numbers that are left. Each link jumps to the next by itself,
// which is faster than a loop around a `switch`.
#if defined(__clang__)  // it does not unroll all loops between jumps where a vector is four registers, and says so
#pragma clang diagnostic push
#pragma clang diagnostic ignored "-Wpass-failed"
#endif
template <bool partial, bool with_rows>
HWY_NOINLINE void chain_batches(const ChainLink* links, int64_t at, int64_t end, const ChainRows& rows) {
#define RT_LABEL(name) &&at_##name, &&at_##name##_equal, &&at_##name##_rows,
#define RT_LABELS(name) RT_LABEL(name##_left) RT_LABEL(name##_right)
  static const void* const labels[] = {&&at_end, &&at_store,
                                       RT_LABEL(load) RT_LABEL(widen) RT_CHAIN_ALONE(RT_LABEL) RT_CHAIN_ALIKE(RT_LABEL)
                                           RT_CHAIN_SIDED(RT_LABELS) RT_LABEL(where_0) RT_LABEL(where_1)
                                               RT_LABEL(where_2)};
#undef RT_LABEL
#undef RT_LABELS
#define RT_NEXT() goto* labels[(++link)->code]
#define RT_STEP(name, expression)                                                                                \
  at_##name : chain_step<partial>(*link, at, count, acc,                                                         \
                                  [](F32 a, F32 b) __attribute__((always_inline)) { return expression; });       \
  RT_NEXT();                                                                                                     \
  at_##name##_equal                                                                                              \
      : chain_step_of_equal(*link, acc, [](F32 a, F32 b) __attribute__((always_inline)) { return expression; }); \
  RT_NEXT();                                                                                                     \
  at_##name##_rows                                                                                               \
      : chain_step_of_rows<with_rows>(*link, rows, place, acc,                                                   \
                                      [](F32 a, F32 b) __attribute__((always_inline)) { return expression; });   \
  RT_NEXT();
#define RT_ALONE(name)                                                                         \
  at_##name : at_##name##_equal : at_##name##_rows                                             \
      : chain_alone(acc, [](F32 a) __attribute__((always_inline)) { return name##_rule(a); }); \
  RT_NEXT();
#define RT_ALIKE(name) RT_STEP(name, name##_rule(a, b))
#define RT_SIDED(name) RT_STEP(name##_left, name##_rule(a, b)) RT_STEP(name##_right, name##_rule(b, a))
#define RT_CHOICE(name, expression)                                                                           \
  at_##name : at_##name##_equal : at_##name##_rows                                                            \
      : chain_choice<partial>(*link, at, count, acc,                                                          \
                              [](F32 a, F32 b, F32 c) __attribute__((always_inline)) { return expression; }); \
  RT_NEXT();
  const int count = static_cast<int>(partial ? end - at : kChainBatch);
  F32 acc[kChainVectors];
  RowPlace place;
  if (with_rows && rows.length > 0) place.begin(rows, at);
  const ChainLink* link = links - 1;
  RT_NEXT();
  RT_STEP(load, (static_cast<void>(a), b))
at_widen:
at_widen_equal:
at_widen_rows:
  RT_NEXT();
  RT_CHAIN_ALONE(RT_ALONE)
  RT_CHAIN_ALIKE(RT_ALIKE)
  RT_CHAIN_SIDED(RT_SIDED)
  RT_CHOICE(where_0, where_rule(a, b, c))
  RT_CHOICE(where_1, where_rule(b, a, c))
  RT_CHOICE(where_2, where_rule(b, c, a))
at_store: {
  float* const to = link->to + at;
  RT_UNROLL
  for (int v = 0; v < kChainVectors; ++v) {
    if (partial)
      store_part(acc[v], to + v * kLanes, count - v * kLanes);
    else
      store(acc[v], to + v * kLanes);
  }
}
  RT_NEXT();
at_end:
  at += kChainBatch;
  if (partial || at + kChainBatch > end) return;
  if (with_rows) place.advance(rows, kChainBatch);
  link = links - 1;
  RT_NEXT();
#undef RT_NEXT
#undef RT_STEP
#undef RT_ALONE
#undef RT_ALIKE
#undef RT_SIDED
#undef RT_CHOICE
}

#if defined(__clang__)
#pragma clang diagnostic pop
#endif

// Chains without rows keep the registers of their own, but for the last numbers; scalar code has one form for all.
void run_chain(const ChainLink* links, int64_t count, const ChainRows& rows) {
  int64_t at = 0;
#if !RT_SIMD_SCALAR
  at = count / kChainBatch * kChainBatch;
  if (at > 0 && rows.length > 0) chain_batches<false, true>(links, 0, at, rows);
  if (at > 0 && rows.length == 0) chain_batches<false, false>(links, 0, at, rows);
#endif
  for (; at < count; at += kChainBatch) chain_batches<true, true>(links, at, std::min(count, at + kChainBatch), rows);
}

RT_TARGET_END

#if HWY_ONCE
#include "retrace/ops/pointwise.h"

namespace retrace {

#define RT_DECLARE(name) RT_POINTWISE_RULE(name);
RT_CHAIN_ALONE(RT_DECLARE)
RT_CHAIN_ALIKE(RT_DECLARE)
RT_CHAIN_SIDED(RT_DECLARE)
RT_POINTWISE_RULE(where);
RT_POINTWISE_RULE(widen);
#undef RT_DECLARE

RT_EXPORT_KERNEL(run_chain_table, run_chain);

ChainFunction chain_function() { return run_chain_table.get(); }

ChainCode chain_code(const PointwiseRule& rule, int position, bool alone) {
#define RT_ALONE(name) \
  if (&rule == &name##_pointwise) return name##_code;
  RT_CHAIN_ALONE(RT_ALONE)
  RT_ALONE(widen)
#undef RT_ALONE
  if (alone) return &rule == &multiply_pointwise ? ChainCode{square_code} : kNoChainCode;
#define RT_ALIKE(name) \
  if (&rule == &name##_pointwise) return name##_code;
  RT_CHAIN_ALIKE(RT_ALIKE)
#undef RT_ALIKE
#define RT_SIDED(name) \
  if (&rule == &name##_pointwise) return static_cast<ChainCode>(position == 0 ? name##_left_code : name##_right_code);
  RT_CHAIN_SIDED(RT_SIDED)
#undef RT_SIDED
  if (&rule == &where_pointwise) return static_cast<ChainCode>(where_0_code + 3 * position);
  return kNoChainCode;
}

bool reads_rows(ChainCode code) { return code < where_0_code; }

}  // namespace retrace
#endif
