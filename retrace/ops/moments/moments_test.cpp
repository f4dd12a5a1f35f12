#include "retrace/ops/moments/moments.h"

#include <gtest/gtest.h>

#include "retrace/ops/abs/abs.h"
#include "retrace/ops/mean/mean.h"
#include "retrace/ops/testing/reduce_cases.h"

namespace retrace {
namespace {

std::vector<Tensor> both(const Tensor& x, const Reduced& how) {
  const auto [mean, m2] = moments(x, how.axes, {.keep = how.keep});
  return {mean, m2};
}
std::vector<Tensor> moment_magnitudes(const Tensor& x, const Reduced& how) {
  const ReduceOptions options{.keep = how.keep};
  return {mean(abs(x), how.axes, options), moments(x, how.axes, options).m2};
}

OP_EXAMPLE(moments, std::vector<Tensor>{moments(Tensor::from<float>({1, 2, 3, 6}, {4})).mean,
                                        moments(Tensor::from<float>({1, 2, 3, 6}, {4})).m2});

OP_CASES(moments) {
  auto cases = reduction_cases({.op = "moments", .inputs = {{}}, .bound = {.ulp = 1, .relative = 2.5e-6}}, both,
                               {.magnitude = moment_magnitudes});
  std::erase_if(cases, [](const OpCase& one) { return one.name.starts_with("special"); });  // reduce_test.cpp has them
  // Far from 0, where a unit in the last place is 0.001: sums of squares would have no bits left for m2, 83.
  cases.push_back({.op = "moments",
                   .name = "without_cancellation",
                   .inputs = {{.shape = {1000, 2}, .low = 10000, .high = 10001}},
                   .build = [](const std::vector<Tensor>& in) { return both(in[0], {.axes = {0}}); },
                   .bound = {.ulp = 4, .relative = 1e-3},
                   .differentiable = false});
  cases.push_back({.op = "moments",
                   .name = "by_hand",
                   .inputs = {{.shape = {4}, .values = {1, 2, 3, 6}}},
                   .build = [](const std::vector<Tensor>& in) { return std::vector<Tensor>{moments(in[0]).m2}; },
                   .bound = {.ulp = 0.5},
                   .expected = {14}});
  return cases;
}

TEST(Moments, SaysWhatDoesNotFit) {
  EXPECT_EQ(error_text([&] { moments(Tensor::zeros({3}, DType::u8), {}, {}, {"model.cpp", 7}); }),
            "error[RT0131]: moments: x is u8\n"
            "  where:    model.cpp:7\n"
            "  got:      x u8[3]\n"
            "  expected: f32 or f64\n"
            "  help:     cast(x, DType::f32)");
  expect_axes_are_checked("moments");
}

}  // namespace
}  // namespace retrace
