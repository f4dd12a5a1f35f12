// The mode fast on a CUDA device, emulated where no other is asked for: products in TF32, within its error bound, the
// same every time; and nothing of it in the mode reproducible.
#include <gtest/gtest.h>

#include <cmath>
#include <cstdlib>
#include <string>

#include "retrace/device/cpu/threads.h"
#include "retrace/device/device.h"
#include "retrace/ops/conv2d/conv2d_gradients.h"
#include "retrace/plan/device_plan.h"
#include "retrace/run/plan_cache.h"
#include "retrace/train/train_job.h"
#include "tests/chain_testing.h"
#include "tests/golden_jobs.h"

namespace retrace {
namespace {

[[maybe_unused]] const int emulated = setenv("RETRACE_CUDA_EMULATION", "1", 0);

// Kernels of the plan that this thread ran last whose names have that in them.
size_t kernels_with(std::string_view text) {
  size_t count = 0;
  for (const auto& call : last_plan()->calls())
    for (const auto& kernel : call.kernels) count += kernel.find(text) != std::string::npos;
  return count;
}

using Function = Tensor (*)(const std::vector<Tensor>& arguments);

class CudaFast : public testing::Test {
 protected:
  void SetUp() override {
    if (!can_use_gpu()) GTEST_SKIP() << cuda_problem();
  }

  static std::vector<float> on_device(Mode mode, Function f, const std::vector<Tensor>& arguments) {
    const ModeScope scope(mode);
    std::vector<Tensor> there;
    for (const Tensor& argument : arguments) there.push_back(argument.to(*gpus()[0]));
    const Tensor made = f(there);
    evaluate();
    const auto plan = last_plan();
    auto values = made.to_vector<float>();
    set_last_plan(plan);
    return values;
  }
  static std::vector<double> in_double(Function f, const std::vector<Tensor>& arguments, bool magnitudes) {
    std::vector<Tensor> there;
    for (const Tensor& argument : arguments) there.push_back(cast(magnitudes ? abs(argument) : argument, DType::f64));
    return f(there).to_vector<double>();
  }

  // Each factor is rounded once, by 2^-11 of it at most, and each sum of 256 terms takes at most 256 roundings of f32.
  static void expect_within_bound(Function f, const std::vector<Tensor>& arguments, size_t kernels) {
    const auto found = on_device(Mode::fast, f, arguments);
    EXPECT_EQ(kernels_with("tf32"), kernels) << last_plan()->text();
    const auto wanted = in_double(f, arguments, false), size = in_double(f, arguments, true);
    double most = 0;
    for (size_t i = 0; i < found.size(); ++i)
      most = std::max(most, std::fabs(double{found[i]} - wanted[i]) / (size[i] + 1e-30));
    EXPECT_LE(most, 0x1p-10 + 0x1p-22 + 256 * 0x1p-24);
    EXPECT_EQ(on_device(Mode::fast, f, arguments), found);
    const auto reproducible = on_device(Mode::reproducible, f, arguments);
    EXPECT_EQ(kernels_with("tf32"), 0u);
    EXPECT_NE(found, reproducible);
    EXPECT_EQ(reproducible, f(arguments).to_vector<float>());
  }
};

Tensor product(const std::vector<Tensor>& a) { return matmul(a[0], a[1]); }

// All tiles; columns in fours and not; factors as they lie and transposed; runs of blocks.
TEST_F(CudaFast, MatrixProductsAreWithinTheBound) {
  for (const auto& [rows, depth, columns] :
       {std::tuple{5, 19, 7}, {70, 40, 66}, {150, 300, 24}, {40, 9, 33}, {1300, 8, 1400}, {20, 3000, 12}})
    expect_within_bound(product, {numbers({rows, depth}, "x"), numbers({depth, columns}, "w")}, 1);
}

Tensor convolution(const std::vector<Tensor>& a) { return conv2d(a[0], a[1], {.padding = 1}); }
Tensor strided(const std::vector<Tensor>& a) {
  return conv2d(a[0], a[1], {.stride = 2, .padding = 1, .dilation = 2, .groups = 2});
}
Tensor transposed(const std::vector<Tensor>& a) { return transposed_conv2d(a[0], a[1], {.stride = 2}); }
Tensor input_gradient(const std::vector<Tensor>& a) {
  return conv2d_input_gradient(a[0], a[1], {.stride = {2, 1}, .padding = {1, 1, 1, 1}},
                               {2 * a[0].shape()[1], a[0].shape()[2] + 1});
}
Tensor filter_gradient(const std::vector<Tensor>& a) {
  return conv2d_filter_gradient(a[0], a[1], {.padding = {1, 1, 1, 1}}, {3, 3});
}

// All tiles that there are in TF32, with kernels 4 wide (3 wide ones are quicker in f32, in windows), channels in fours
// and not, terms that end within a stage.
TEST_F(CudaFast, ConvolutionsAreWithinTheBound) {
  for (const auto& [channels, filters] : {std::pair{3, 20}, {5, 13}, {16, 33}, {8, 64}}) {
    SCOPED_TRACE(filters);
    const Tensor x = numbers({2, 9, 8, channels}, "x"), w = numbers({3, 4, channels, filters}, "w");
    expect_within_bound(convolution, {x, w}, 1);
    expect_within_bound(transposed, {x, numbers({3, 3, filters, channels}, "t")}, 1);
    expect_within_bound(input_gradient, {numbers({2, 5, 8, channels}, "dy"), numbers({3, 4, filters, channels}, "w")},
                        1);
    expect_within_bound(filter_gradient, {x, numbers({2, 9, 8, filters}, "dy")}, 1);
  }
  expect_within_bound(convolution, {numbers({9, 32, 32, 3}, "x"), numbers({3, 4, 3, 16}, "w")}, 1);
  expect_within_bound(convolution, {numbers({9, 32, 32, 3}, "x"), numbers({3, 4, 3, 32}, "w")}, 1);
  expect_within_bound(filter_gradient, {numbers({4, 12, 12, 15}, "x"), numbers({4, 12, 12, 13}, "dy")}, 1);
  expect_within_bound(strided, {numbers({2, 9, 9, 8}, "x"), numbers({3, 3, 4, 48}, "w")}, 1);
}

Tensor with_chain(const std::vector<Tensor>& a) { return relu(matmul(a[0], a[1]) + a[2]); }
Tensor convolution_with_chain(const std::vector<Tensor>& a) { return relu(convolution(a) + a[2]); }

TEST_F(CudaFast, ChainsAreComputedWhereTheirKernelsStore) {
  expect_within_bound(with_chain, {numbers({70, 40}, "x"), numbers({40, 66}, "w"), numbers({66}, "b")}, 1);
  EXPECT_EQ(last_plan()->kernel_calls(), 1u);
  expect_within_bound(convolution_with_chain,
                      {numbers({2, 9, 8, 3}, "x"), numbers({3, 4, 3, 16}, "w"), numbers({16}, "b")}, 1);
}

// What is infinite or NaN with the CPU is so in TF32, and the rest is finite: padding meets no such number.
TEST_F(CudaFast, NumbersThatAreNotFiniteReachTheSameResults) {
  const auto expect_alike = [](Function f, const std::vector<Tensor>& arguments) {
    const auto found = on_device(Mode::fast, f, arguments);
    EXPECT_EQ(kernels_with("tf32"), 1u);
    const auto wanted = f(arguments).to_vector<float>();
    for (size_t i = 0; i < found.size(); ++i) {
      const bool finite = std::isfinite(wanted[i]);
      ASSERT_EQ(std::isfinite(found[i]), finite) << i;
      ASSERT_TRUE(finite || found[i] == wanted[i] || (std::isnan(found[i]) && std::isnan(wanted[i]))) << i;
    }
  };
  const Tensor x = numbers({2, 9, 8, 3}, "x"), w = numbers({3, 4, 3, 20}, "w"), dy = numbers({2, 9, 8, 20}, "dy");
  expect_alike(convolution, {with_special(x, 61), w});
  expect_alike(convolution, {x, with_special(w, 61)});
  expect_alike(filter_gradient, {with_special(x, 101), dy});
  expect_alike(filter_gradient, {x, with_special(dy, 487)});
  expect_alike(product, {with_special(numbers({40, 70}, "x"), 97), with_special(numbers({70, 20}, "w"), 97)});
}

// Tiles of eight columns are too narrow for warps: f32, with the bits of the mode reproducible.
TEST_F(CudaFast, NarrowTilesStayInF32) {
  const std::vector<Tensor> arguments{numbers({17, 64, 64, 1}, "x"), numbers({3, 3, 1, 8}, "w")};
  const auto found = on_device(Mode::fast, convolution, arguments);
  EXPECT_EQ(kernels_with("tf32"), 0u);
  EXPECT_EQ(found, convolution(arguments).to_vector<float>());
}

TEST_F(CudaFast, AJobSaysSoAndIsTheSameEveryTime) {
  const auto trained = [](const char* mode, const char* device, const char* threads) {
    return train_job(read_job(golden_path("digits"), {{"training.max_epochs", "1", ""},
                                                      {"training.mini_batch_size", "8", ""},
                                                      {"data.train_samples", "16", ""},
                                                      {"data.test_samples", "8", ""},
                                                      {"training.mode", mode, ""},
                                                      {"threads", threads, ""},
                                                      {"device", device, ""}}),
                     {.write_run = false});
  };
  const auto fast = trained("fast", "cuda", "1");
  EXPECT_TRUE(fast.fast);
  EXPECT_EQ(trained("fast", "cuda", "3").fingerprint, fast.fingerprint);
  const auto reproducible = trained("reproducible", "cuda", "1");
  EXPECT_NE(reproducible.fingerprint, fast.fingerprint);
  EXPECT_EQ(reproducible.fingerprint, trained("reproducible", "cpu", "2").fingerprint);
}

}  // namespace
}  // namespace retrace
