#include "retrace/ops/mean/mean.h"

#include <gtest/gtest.h>

#include "retrace/ops/abs/abs.h"
#include "retrace/ops/reduce_cases.h"

namespace retrace {
namespace {

std::vector<Tensor> means(const Tensor& x, const ReduceOptions& options) { return {mean(x, options)}; }
std::vector<Tensor> magnitudes(const Tensor& x, const ReduceOptions& options) { return {mean(abs(x), options)}; }

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

TEST(Mean, OfIntegersIsAnError) {
  const auto text = error_text([] { mean(Tensor::zeros({3}, DType::i32)); });
  EXPECT_NE(text.find("mean: x is i32"), std::string::npos) << text;
  EXPECT_NE(text.find("cast(x, DType::f32)"), std::string::npos) << text;
  EXPECT_NE(text.find("mean_test.cpp"), std::string::npos) << text;
}

}  // namespace
}  // namespace retrace
