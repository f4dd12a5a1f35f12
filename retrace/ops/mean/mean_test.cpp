#include "retrace/ops/mean/mean.h"

#include <gtest/gtest.h>

#include "retrace/ops/abs/abs.h"
#include "retrace/ops/testing/reduce_cases.h"

namespace retrace {
namespace {

std::vector<Tensor> means(const Tensor& x, const Reduced& how) { return {mean(x, how.axes, {.keep = how.keep})}; }
std::vector<Tensor> magnitudes(const Tensor& x, const Reduced& how) {
  return {mean(abs(x), how.axes, {.keep = how.keep})};
}

OP_EXAMPLE(mean, mean(Tensor::from<float>({1, 5, 2, 7, 0, 3}, {2, 3}), 1));

OP_CASES(mean) {
  auto cases = reduction_cases({.op = "mean", .inputs = {{}}, .bound = {.ulp = 1, .relative = 1.7e-6}}, means,
                               {.magnitude = magnitudes});
  std::erase_if(cases, [](const OpCase& one) { return one.name == "special_columns"; });  // sums beyond the largest f32
  cases.push_back({.op = "mean",
                   .name = "is_a_division",
                   .inputs = {{.shape = {3}, .values = {1, 0, 0}}},
                   .build = [](const std::vector<Tensor>& in) { return std::vector<Tensor>{mean(in[0])}; },
                   .bound = {.ulp = 0.5},
                   .expected = {static_cast<double>(1.0f / 3.0f)},
                   .differentiable = false});
  return cases;
}

TEST(Mean, SaysWhatDoesNotFit) {
  EXPECT_EQ(error_text([&] { mean(Tensor::zeros({3}, DType::i32), {}, {}, {"model.cpp", 7}); }),
            "error[RT0131]: mean: x is i32\n"
            "  where:    model.cpp:7\n"
            "  got:      x i32[3]\n"
            "  expected: f32 or f64\n"
            "  help:     cast(x, DType::f32)");
  expect_axes_are_checked("mean");
}

}  // namespace
}  // namespace retrace
