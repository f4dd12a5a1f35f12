// Reductions of lines with the pointwise work around them, a few lines at a time (fuse_lines): the bits are those of
// kernels of their own.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <cmath>

#include "retrace/device/cpu/dispatch.h"
#include "retrace/device/cpu/threads.h"
#include "retrace/plan/compile.h"
#include "retrace/retrace.h"
#include "tests/chain_testing.h"
#include "tests/tested_targets.h"

namespace retrace {
namespace {

Tensor wave(const Shape& shape, double from) {
  std::vector<float> values(static_cast<size_t>(shape.count()));
  for (size_t i = 0; i < values.size(); ++i)
    values[i] = static_cast<float>(std::sin(from + static_cast<double>(i)) * 3);
  return Tensor::from(values, shape);
}

using FuseLines = ChainFixture<testing::Test>;

// A norm, a softmax and a loss of classes, with their gradients.
Tree norms_and_losses(const Tree& p, const Tensor& weights, const Tensor& classes) {
  const auto loss = [&](const Tree& in) -> Tensor {
    const Tensor x = layer_norm(in["x"], in["scale"], in["shift"]);
    const Tensor rows = reshape(x, {x.shape().count(0, x.rank() - 1), x.shape().back()});
    return sum(softmax(x, -1) * weights) + softmax_cross_entropy(rows, classes);
  };
  const auto result = value_and_grad(loss)(p);
  return {{"value", result.value}, {"gradients", result.gradients}};
}

TEST_F(FuseLines, KeepsTheBits) {
  for (const Shape& shape :
       {Shape{1000, 300}, Shape{1003, 257}, Shape{4096, 86}, Shape{6, 200, 256}, Shape{40, 8, 33, 33}}) {
    SCOPED_TRACE(shape.text());
    const int64_t features = shape.back(), rows = shape.count() / features;
    std::vector<int32_t> numbers(static_cast<size_t>(rows));
    for (size_t i = 0; i < numbers.size(); ++i)
      numbers[i] = static_cast<int32_t>(i * 7) % static_cast<int32_t>(features);
    const Tensor classes = Tensor::from(numbers, {rows}), weights = wave(shape, 1);
    const Tree p{{"x", wave(shape, 2)}, {"scale", wave({features}, 3)}, {"shift", wave({features}, 4)}};
    const auto run = [&] { return fingerprint(norms_and_losses(p, weights, classes)); };
    set_passes_off({"fuse_lines"});
    const auto expected = run();
    EXPECT_EQ(count_in_last_plan("sample_chain"), 0u);
    set_passes_off({});
    for (const SimdTarget target : tested_targets())
      for (const int threads : {1, 3}) {
        SCOPED_TRACE(fmt::format("{}, {} threads", name_of(target), threads));
        set_simd_target(name_of(target));
        set_thread_count(threads);
        EXPECT_EQ(run(), expected);
        EXPECT_GE(count_in_last_plan("sample_chain"), 1u);
      }
  }
}

// Few lines are left to as many threads as there are.
TEST_F(FuseLines, LeavesWorkForEachThread) {
  const auto chains = [](int threads) {
    set_thread_count(threads);
    const Tensor x = wave({8, 40'000}, 1);
    const Tensor y = softmax(x * x, -1) - 1;
    evaluate();
    EXPECT_TRUE(y.defined());
    return count_in_last_plan("sample_chain");
  };
  EXPECT_EQ(chains(2), 1u);
  EXPECT_EQ(chains(16), 0u);
}

}  // namespace
}  // namespace retrace
