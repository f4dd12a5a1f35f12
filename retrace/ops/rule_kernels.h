#pragma once
// What a generated kernel file (cmake/op_table.cmake) holds of each of its scalar rules NAME_rule.h. One file takes
// several rules, since reading Highway for every instruction set costs more than compiling a rule.

// Between RT_TARGET_BEGIN and RT_TARGET_END: the vector loop.
#define RT_RULE_LOOP(name)                                                   \
  struct name##_functor {                                                    \
    template <class... V>                                                    \
    RT_INLINE auto operator()(V... v) const -> decltype(name##_rule(v...)) { \
      return name##_rule(v...);                                              \
    }                                                                        \
  };                                                                         \
  constexpr int name##_arity = rule_arity<name##_functor, F32>();            \
  void name##_tile(const float* const* in, float* out, int64_t count) {      \
    pointwise_loop(name##_functor(), in, out, count);                        \
  }

// Under HWY_ONCE, in namespace retrace: the rule as ops see it. `header` is the rule's, as others include it.
#define RT_EXPORT_RULE(name, header)                                                                              \
  RT_EXPORT_KERNEL(name##_tile_table, name##_tile);                                                               \
  void name##_reference(const double* const* in, double* out, int64_t count);                                     \
  extern const PointwiseRule name##_pointwise;                                                                    \
  const PointwiseRule name##_pointwise = {HWY_STATIC_DISPATCH(name##_arity), name##_tile_table, name##_reference, \
                                          #name, header};
