#pragma once
// A scalar rule in double precision, the reference of its tests: for the generated file of all rules.

#include <cstdint>

namespace retrace {

template <class Rule>
void run_reference(Rule rule, const double* const* in, double* out, int64_t count) {
  for (int64_t i = 0; i < count; ++i) {
    if constexpr (requires(double v) { rule(v); })
      out[i] = rule(in[0][i]);
    else if constexpr (requires(double v) { rule(v, v); })
      out[i] = rule(in[0][i], in[1][i]);
    else
      out[i] = rule(in[0][i], in[1][i], in[2][i]);
  }
}

}  // namespace retrace

// In namespace retrace.
#define RT_RULE_REFERENCE(name)                                                                                 \
  void name##_reference(const double* const* in, double* out, int64_t count);                                   \
  void name##_reference(const double* const* in, double* out, int64_t count) {                                  \
    const auto rule = [](auto... v) -> decltype(rules::name##_rule(v...)) { return rules::name##_rule(v...); }; \
    run_reference(rule, in, out, count);                                                                        \
  }
