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
// Each of a rule is followed by those for the other ways to read an operand (ChainRead).
enum ChainCodes : ChainCode {
  end_code = kChainEnd,
  store_code = kChainStore,
  keep_code = kChainKeep,
  load_code = kChainLoad,
#define RT_CODE(name) name##_code, name##_equal_code, name##_rows_code, name##_kept_0_code, name##_kept_1_code,
#define RT_CODES(name) RT_CODE(name##_left) RT_CODE(name##_right)
  load_equal_code,
  load_rows_code,
  load_kept_0_code,
  load_kept_1_code,
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
// For the last numbers, whose code is larger: few of them need few vectors.
constexpr int kPartVectors = (kChainVectors + 3) / 4;

// The numbers of two batches that were kept: in registers where there are enough, else in memory, which is read as an
// array is.
#if HWY_TARGET == HWY_AVX3
#define RT_KEPT_IN_REGISTERS 1
#else
#define RT_KEPT_IN_REGISTERS 0
#endif
template <int vectors>
struct ChainKept {
#if RT_KEPT_IN_REGISTERS
  F32 all[kMostKept][vectors];
  explicit ChainKept(float*) {}
  RT_INLINE F32 get(int place, int v) const { return all[place][v]; }
  RT_INLINE void set(int place, int v, F32 x) { all[place][v] = x; }
  RT_INLINE const float* source(const ChainLink& link, int which, int64_t at) const { return link.from[which] + at; }
#else
  float* all;
  explicit ChainKept(float* memory) : all(memory) {}
  RT_INLINE void set(int place, int v, F32 x) { store(x, all + (place * vectors + v) * kLanes); }
  RT_INLINE const float* source(const ChainLink& link, int which, int64_t at) const {
    const int place = static_cast<int>(link.read[which]) - static_cast<int>(ChainRead::kept_0);
    return place < 0 ? link.from[which] + at : all + place * vectors * kLanes;
  }
#endif
};

// The numbers of an operand from `from` on; of the last batch only `count` are there.
template <bool partial>
struct ChainOperand {
  const float* from;
  int count;
  RT_INLINE F32 operator[](int v) const {
    return partial ? load_part(from + v * kLanes, count - v * kLanes) : load(from + v * kLanes);
  }
};

template <int vectors, class F>
RT_INLINE void chain_alone(F32 (&acc)[vectors], F f) {
  RT_UNROLL
  for (int v = 0; v < vectors; ++v) acc[v] = f(acc[v]);
}

// f(acc, operand 0)
template <bool partial, int vectors, class F>
RT_INLINE void chain_step(const ChainLink& link, int64_t at, int count, const ChainKept<vectors>& kept,
                          F32 (&acc)[vectors], F f) {
  const ChainOperand<partial> b{kept.source(link, 0, at), count};
  RT_UNROLL
  for (int v = 0; v < vectors; ++v) acc[v] = f(acc[v], b[v]);
}
// The same where it is one number.
template <int vectors, class F>
RT_INLINE void chain_step_of_equal(const ChainLink& link, F32 (&acc)[vectors], F f) {
  const F32 b(*link.from[0]);
  RT_UNROLL
  for (int v = 0; v < vectors; ++v) acc[v] = f(acc[v], b);
}

// The same where it is one number a row; without rows no link comes here.
template <bool with_rows, int vectors, class F>
RT_INLINE void chain_step_of_rows(const ChainLink& link, const ChainRows& rows, const RowPlace& place,
                                  F32 (&acc)[vectors], F f) {
  if constexpr (with_rows) {
    const RowNumbers b(link.from[0], rows, place);
    RT_UNROLL
    for (int v = 0; v < vectors; ++v) acc[v] = f(acc[v], b(v * kLanes));
  }
}

#if RT_KEPT_IN_REGISTERS
// The same where it was kept.
template <int vectors, class F>
RT_INLINE void chain_step_of_kept(const ChainKept<vectors>& kept, int place, F32 (&acc)[vectors], F f) {
  RT_UNROLL
  for (int v = 0; v < vectors; ++v) acc[v] = f(acc[v], kept.get(place, v));
}
#endif

// An argument of a choice.
template <ChainRead read, bool partial, int vectors>
struct ChoiceOperand {
  const ChainKept<vectors>& kept;
  ChainOperand<partial> each{};
  F32 equal;
  RT_INLINE ChoiceOperand(const ChainLink& link, int which, int64_t at, int count, const ChainKept<vectors>& of)
      : kept(of) {
    if constexpr (read == ChainRead::each) each = {of.source(link, which, at), count};
    if constexpr (read == ChainRead::equal) equal = F32(*link.from[which]);
  }
  RT_INLINE F32 operator[](int v) const {
    if constexpr (read == ChainRead::each) return each[v];
    if constexpr (read == ChainRead::equal) return equal;
#if RT_KEPT_IN_REGISTERS
    return kept.get(read == ChainRead::kept_1, v);
#endif
  }
};

template <bool partial, ChainRead read_b, ChainRead read_c, int vectors, class F>
RT_INLINE void chain_choice_of(const ChainLink& link, int64_t at, int count, const ChainKept<vectors>& kept,
                               F32 (&acc)[vectors], F f) {
  const ChoiceOperand<read_b, partial, vectors> b(link, 0, at, count, kept);
  const ChoiceOperand<read_c, partial, vectors> c(link, 1, at, count, kept);
  RT_UNROLL
  for (int v = 0; v < vectors; ++v) acc[v] = f(acc[v], b[v], c[v]);
}

// f(acc, operand 0, operand 1)
template <bool partial, ChainRead b, int vectors, class F>
RT_INLINE void chain_choice(const ChainLink& link, int64_t at, int count, const ChainKept<vectors>& kept,
                            F32 (&acc)[vectors], F f) {
  switch (link.read[1]) {
    case ChainRead::equal: return chain_choice_of<partial, b, ChainRead::equal>(link, at, count, kept, acc, f);
#if RT_KEPT_IN_REGISTERS
    case ChainRead::kept_0: return chain_choice_of<partial, b, ChainRead::kept_0>(link, at, count, kept, acc, f);
    case ChainRead::kept_1: return chain_choice_of<partial, b, ChainRead::kept_1>(link, at, count, kept, acc, f);
#endif
    default: return chain_choice_of<partial, b, ChainRead::each>(link, at, count, kept, acc, f);
  }
}

// All links for whole batches from `at` on, or for the numbers that are left. Each link jumps to the next by itself,
// which is faster than a loop around a `switch`.
#if defined(__clang__)  // it does not unroll all loops between jumps where a vector is four registers, and says so
#pragma clang diagnostic push
#pragma clang diagnostic ignored "-Wpass-failed"
#endif
template <bool partial, bool with_rows>
HWY_NOINLINE void chain_batches(const ChainLink* links, int64_t at, int64_t end, const ChainRows& rows,
                                float* kept_memory) {
#define RT_LABEL(name) &&at_##name, &&at_##name##_equal, &&at_##name##_rows, &&at_##name##_kept_0, &&at_##name##_kept_1,
#define RT_LABELS(name) RT_LABEL(name##_left) RT_LABEL(name##_right)
  static const void* const labels[] = {&&at_end, &&at_store, &&at_keep_0, &&at_keep_1,
                                       RT_LABEL(load) RT_LABEL(widen) RT_CHAIN_ALONE(RT_LABEL) RT_CHAIN_ALIKE(RT_LABEL)
                                           RT_CHAIN_SIDED(RT_LABELS) RT_LABEL(where_0) RT_LABEL(where_1)
                                               RT_LABEL(where_2)};
#undef RT_LABEL
#undef RT_LABELS
#define RT_NEXT() goto* labels[(++link)->code]
#define RT_STEP(name, expression)                                                                                \
  RT_READS_KEPT(name)                                                                                            \
  at_##name : chain_step<partial>(*link, at, count, kept, acc,                                                   \
                                  [](F32 a, F32 b) __attribute__((always_inline)) { return expression; });       \
  RT_NEXT();                                                                                                     \
  at_##name##_equal                                                                                              \
      : chain_step_of_equal(*link, acc, [](F32 a, F32 b) __attribute__((always_inline)) { return expression; }); \
  RT_NEXT();                                                                                                     \
  at_##name##_rows                                                                                               \
      : chain_step_of_rows<with_rows>(*link, rows, place, acc,                                                   \
                                      [](F32 a, F32 b) __attribute__((always_inline)) { return expression; });   \
  RT_NEXT();                                                                                                     \
  RT_OF_KEPT(name, 0, expression) RT_OF_KEPT(name, 1, expression)
#if RT_KEPT_IN_REGISTERS
#define RT_READS_KEPT(name)
#define RT_OF_KEPT(name, place, expression)                                                                           \
  at_##name##_kept_##place                                                                                            \
      : chain_step_of_kept(kept, place, acc, [](F32 a, F32 b) __attribute__((always_inline)) { return expression; }); \
  RT_NEXT();
#define RT_CHOICE_OF_KEPT(name, place, expression) RT_CHOICE_OF(name, _kept_##place, kept_##place, expression)
#else
#define RT_READS_KEPT(name) at_##name##_kept_0 : at_##name##_kept_1:
#define RT_OF_KEPT(name, place, expression)
#define RT_CHOICE_OF_KEPT(name, place, expression)
#endif
#define RT_ALONE(name)                                                                         \
  at_##name : at_##name##_equal : at_##name##_rows : at_##name##_kept_0 : at_##name##_kept_1   \
      : chain_alone(acc, [](F32 a) __attribute__((always_inline)) { return name##_rule(a); }); \
  RT_NEXT();
#define RT_ALIKE(name) RT_STEP(name, name##_rule(a, b))
#define RT_SIDED(name) RT_STEP(name##_left, name##_rule(a, b)) RT_STEP(name##_right, name##_rule(b, a))
#define RT_CHOICE(name, expression)                                                                           \
  at_##name##_rows : /* none has rows */                                                                      \
                     RT_READS_KEPT(name) RT_CHOICE_OF(name, , each, expression)                               \
                         RT_CHOICE_OF(name, _equal, equal, expression) RT_CHOICE_OF_KEPT(name, 0, expression) \
                             RT_CHOICE_OF_KEPT(name, 1, expression)
#define RT_CHOICE_OF(name, suffix, read, expression)                                                      \
  at_##name##suffix : chain_choice<partial, ChainRead::read>(                                             \
                          *link, at, count, kept, acc,                                                    \
                          [](F32 a, F32 b, F32 c) __attribute__((always_inline)) { return expression; }); \
  RT_NEXT();
#define RT_KEEP(place)                                          \
  at_keep_##place : RT_UNROLL                                   \
  for (int v = 0; v < vectors; ++v) kept.set(place, v, acc[v]); \
  RT_NEXT();
  constexpr int vectors = partial ? kPartVectors : kChainVectors, batch = vectors * kLanes;
  int count = static_cast<int>(partial ? std::min<int64_t>(batch, end - at) : batch);
  F32 acc[vectors];
  ChainKept<vectors> kept(kept_memory);
  RowPlace place;
  if (with_rows && rows.length > 0) place.begin(rows, at);
  const ChainLink* link = links - 1;
  RT_NEXT();
  RT_STEP(load, (static_cast<void>(a), b))
at_widen:
at_widen_equal:
at_widen_rows:
at_widen_kept_0:
at_widen_kept_1:
  RT_NEXT();
  RT_KEEP(0)
  RT_KEEP(1)
  RT_CHAIN_ALONE(RT_ALONE)
  RT_CHAIN_ALIKE(RT_ALIKE)
  RT_CHAIN_SIDED(RT_SIDED)
  RT_CHOICE(where_0, where_rule(a, b, c))
  RT_CHOICE(where_1, where_rule(b, a, c))
  RT_CHOICE(where_2, where_rule(b, c, a))
at_store: {
  float* const to = link->to + at;
  RT_UNROLL
  for (int v = 0; v < vectors; ++v) {
    if (partial)
      store_part(acc[v], to + v * kLanes, count - v * kLanes);
    else
      store(acc[v], to + v * kLanes);
  }
}
  RT_NEXT();
at_end:
  at += batch;
  if (partial ? at >= end : at + batch > end) return;
  if (partial) count = static_cast<int>(std::min<int64_t>(batch, end - at));
  if (with_rows && (!partial || rows.length > 0)) place.advance(rows, batch);
  link = links - 1;
  RT_NEXT();
#undef RT_NEXT
#undef RT_STEP
#undef RT_ALONE
#undef RT_ALIKE
#undef RT_SIDED
#undef RT_OF_KEPT
#undef RT_CHOICE
#undef RT_CHOICE_OF
#undef RT_CHOICE_OF_KEPT
#undef RT_READS_KEPT
#undef RT_KEEP
}

#if defined(__clang__)
#pragma clang diagnostic pop
#endif

// Chains without rows keep the registers of their own, but for the last numbers; scalar code has one form for all.
void run_chain(const ChainLink* links, int64_t count, const ChainRows& rows) {
  int64_t at = 0;
  alignas(64) float kept[kMostKept * kChainBatch];
#if !RT_SIMD_SCALAR
  at = count / kChainBatch * kChainBatch;
  if (at > 0 && rows.length > 0) chain_batches<false, true>(links, 0, at, rows, kept);
  if (at > 0 && rows.length == 0) chain_batches<false, false>(links, 0, at, rows, kept);
#endif
  if (at < count) chain_batches<true, true>(links, at, count, rows, kept);
}

#undef RT_KEPT_IN_REGISTERS

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
  if (&rule == &where_pointwise) return static_cast<ChainCode>(where_0_code + kChainReads * position);
  return kNoChainCode;
}

bool reads_rows(ChainCode code) { return code < where_0_code; }

}  // namespace retrace
#endif
