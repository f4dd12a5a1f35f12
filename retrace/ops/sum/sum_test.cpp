#include "retrace/ops/sum/sum.h"

#include <gtest/gtest.h>

#include "retrace/ops/abs/abs.h"
#include "retrace/ops/testing/reduce_cases.h"

namespace retrace {
namespace {

std::vector<Tensor> sums(const Tensor& x, const Reduced& how) { return {sum(x, how.axes, {.keep = how.keep})}; }
std::vector<Tensor> magnitudes(const Tensor& x, const Reduced& how) {
  return {sum(abs(x), how.axes, {.keep = how.keep})};
}

OP_EXAMPLE(sum, sum(Tensor::from<float>({1, 5, 2, 7, 0, 3}, {2, 3}), 1));

OP_CASES(sum) {
  // Of n terms at most 15 + log2(n / 16) + 1 roundings meet one term: 27 units of 2^-24 up to 20,000.
  auto cases = reduction_cases({.op = "sum", .inputs = {{}}, .bound = {.ulp = 0.5, .relative = 1.7e-6}}, sums,
                               {.magnitude = magnitudes});
  for (auto& one : cases)
    if (one.name == "special_columns" || one.name == "special_rows")
      one.bound.relative = 2e31;  // the sums pass the largest f32
  const auto by_hand = [](const char* name, DType type, Shape shape, Shape axes, std::vector<double> values,
                          std::vector<double> expected) {
    return OpCase{.op = "sum",
                  .name = name,
                  .inputs = {{.shape = shape, .type = type, .values = values}},
                  .build = [axes](const std::vector<Tensor>& in) { return std::vector<Tensor>{sum(in[0], axes)}; },
                  .bound = {.ulp = 0.5},
                  .expected = expected,
                  .differentiable = false};
  };
  cases.push_back(by_hand("by_hand", DType::f32, {2, 3}, {0}, {1, 2, 3, 4, 5, 6.5}, {5, 7, 9.5}));
  cases.push_back(by_hand("nothing", DType::f32, {0, 2}, {0}, {}, {0, 0}));
  cases.push_back(by_hand("minus_zero", DType::f32, {2}, {}, {-0.0, -0.0}, {0}));  // sums begin with +0
  cases.push_back({.op = "sum",
                   .name = "many_blocks",
                   .inputs = {{.shape = {40003, 33}}},
                   .build = [](const std::vector<Tensor>& in) { return sums(in[0], {.axes = {0}}); },
                   .bound = {.ulp = 0.5, .relative = 1.8e-6},
                   .differentiable = false,
                   .magnitude = [](const std::vector<Tensor>& in) { return magnitudes(in[0], {.axes = {0}}); }});
  cases.push_back(by_hand("integers", DType::i32, {2, 2}, {1}, {1, 2, 3, -9}, {3, -6}));
  cases.push_back(by_hand("integers_wrap", DType::i32, {2}, {}, {2147483647, 1}, {-2147483648.0}));
  cases.push_back(by_hand("bytes_are_counted_in_i32", DType::u8, {2, 2}, {0}, {200, 1, 200, 2}, {400, 3}));
  cases.push_back(by_hand("truths_are_counted", DType::boolean, {5}, {}, {1, 0, 1, 1, 0}, {3}));
  return cases;
}

TEST(Sum, ShapesAndLabels) {
  const Tensor x = Tensor::zeros({2, 3, 4, 5}, DType::f32, "BSSC");
  EXPECT_EQ(sum(x).spec().text(), "f32[]");
  EXPECT_EQ(sum(x, {0, 1, 2}).spec().text(), "f32[5] \"C\"");
  EXPECT_EQ(sum(x, -1, {.keep = true}).spec().text(), "f32[2,3,4,1] \"BSSC\"");
  EXPECT_EQ(sum(Tensor::zeros({3}, DType::boolean)).type(), DType::i32);
}

TEST(Sum, WrongAxesNameTheRuleAndThePlace) {
  const Place place{"model.cpp", 7};
  const Tensor x = Tensor::zeros({2, 3});
  EXPECT_EQ(error_text([&] { sum(x, 2, {}, place); }),
            "error[RT0134]: sum: axis 2 does not exist\n"
            "  where:    model.cpp:7\n"
            "  got:      a tensor with 2 axes\n"
            "  expected: an axis from -2 to 1");
  EXPECT_EQ(error_text([&] { sum(x, {1, -1}, {}, place); }),
            "error[RT0137]: sum: axis 1 stands twice in the axes [1,-1]\n"
            "  where:    model.cpp:7\n"
            "  expected: each axis once");
}

TEST(Sum, ARecordedCallIsCheckedAgain) {
  const auto recorded = [](const Shape& axes) {
    return error_text([&] {
      record_one(find_op("sum"), {{"axes", axes}, {"keep", int64_t{0}}}, {Tensor::zeros({2, 3})}, {"model.cpp", 7});
    });
  };
  EXPECT_EQ(recorded({}),
            "error[RT0137]: sum: no axes are named\n"
            "  where:    model.cpp:7\n"
            "  got:      f32[2,3]\n"
            "  expected: at least one axis\n"
            "  help:     name the axes to reduce, or all of them");
  EXPECT_EQ(recorded({1, 0}),
            "error[RT0137]: sum: the axes [1,0] are not usable\n"
            "  where:    model.cpp:7\n"
            "  got:      f32[2,3]\n"
            "  expected: ascending axes, each once");
  EXPECT_EQ(recorded({-1}),
            "error[RT0134]: sum: axis -1 does not exist\n"
            "  where:    model.cpp:7\n"
            "  got:      f32[2,3]\n"
            "  expected: an axis from -2 to 1");
}

}  // namespace
}  // namespace retrace
