#pragma once
// Cases that every reduction has, and what every reduction refuses.

#include <gtest/gtest.h>

#include "retrace/ops/sum/sum.h"
#include "retrace/ops/testing/op_case.h"

namespace retrace {

// The arguments of a reduction beside x.
struct Reduced {
  Shape axes = {};
  bool keep = false;
};

using ReduceFunction = std::function<std::vector<Tensor>(const Tensor&, const Reduced&)>;

// `like` gives op, bounds and the range of the input; `f` the call; `magnitude`, if any, in f64 the sums of |terms|.
// Distinct: no two elements are equal, as where only one of them is taken. Not empty: no case without elements.
struct ReduceCaseOptions {
  ReduceFunction magnitude = nullptr;
  bool distinct = false;
  bool empty = true;
};

inline std::vector<OpCase> reduction_cases(const OpCase& like, const ReduceFunction& f,
                                           const ReduceCaseOptions& how = {}) {
  struct Form {
    const char* name;
    Shape shape;
    Reduced options;
    const char* labels = "";
  };
  const std::vector<Form> forms{{"rank_0", {}, {}},
                                {"one", {1}, {}},
                                {"all", {3, 5, 7}, {}},
                                {"row", {5, 300}, {.axes = {-1}}},
                                {"long_row", {2, 20000}, {.axes = {1}}},
                                {"column", {300, 5}, {.axes = {0}}},
                                {"wide_column", {70, 333}, {.axes = {0}}},
                                {"long_column", {20000, 3}, {.axes = {0}}},
                                {"last_axis_of_size_1", {40, 1}, {.axes = {0}}},
                                {"middle", {3, 37, 4}, {.axes = {1}}},
                                {"apart", {4, 3, 5, 6}, {.axes = {0, 2}}},
                                {"apart_with_last", {4, 3, 5, 6}, {.axes = {1, 3}}},
                                {"kept", {4, 6, 5}, {.axes = {0, 2}, .keep = true}},
                                {"labelled", {6, 3, 3, 5}, {.axes = {0, 1, 2}}, "BSSC"},
                                {"labelled_kept", {6, 3, 3, 5}, {.axes = {-1}, .keep = true}, "BSSC"}};
  std::vector<OpCase> cases;
  const auto add = [&](const Form& form) -> OpCase& {
    OpCase made = like;
    made.name = like.name + form.name;
    made.inputs[0].shape = form.shape;
    made.inputs[0].labels = form.labels;
    const Reduced options = form.options;
    made.build = [f, options](const std::vector<Tensor>& in) { return f(in[0], options); };
    if (const auto magnitude = how.magnitude)
      made.magnitude = [magnitude, options](const std::vector<Tensor>& in) { return magnitude(in[0], options); };
    const int64_t count = form.shape.count();
    if (how.distinct)  // 7919 is prime: a permutation of 0..count-1
      for (int64_t i = 0; i < count; ++i)
        made.inputs[0].values.push_back(static_cast<double>(i * 7919 % count - count / 2) * 0.25);
    cases.push_back(std::move(made));
    return cases.back();
  };
  for (const auto& form : forms) add(form);
  if (how.empty) add({"of_nothing", {0, 3}, {.axes = {0}}}).differentiable = false;
  add({"empty_result", {0, 3}, {.axes = {1}}}).differentiable = false;
  for (const Reduced& options : {Reduced{.axes = {0}}, Reduced{.axes = {1}}}) {
    auto& special = add({options.axes.contains(0) ? "special_columns" : "special_rows", {16, 16}, options});
    special.inputs[0].values = special_values();
    special.differentiable = false;
  }
  return cases;
}

inline void expect_axes_are_checked(const std::string& op) {
  const auto text = [&](const Shape& axes) {
    return infer_error(op, {{"axes", axes}, {"keep", int64_t{0}}}, {{DType::f32, {2, 3}, {}, {}}});
  };
  EXPECT_EQ(text({}), "error[RT0137]: " + op +
                          ": no axes are named\n"
                          "  where:    model.cpp:7\n"
                          "  got:      f32[2,3]\n"
                          "  expected: at least one axis\n"
                          "  help:     name the axes to reduce, or all of them");
  EXPECT_EQ(text({1, 0}), "error[RT0137]: " + op +
                              ": the axes [1,0] are not usable\n"
                              "  where:    model.cpp:7\n"
                              "  got:      f32[2,3]\n"
                              "  expected: ascending axes, each once");
  EXPECT_EQ(text({2}), "error[RT0134]: " + op +
                           ": axis 2 does not exist\n"
                           "  where:    model.cpp:7\n"
                           "  got:      f32[2,3]\n"
                           "  expected: an axis from -2 to 1");
}

}  // namespace retrace
