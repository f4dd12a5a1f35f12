// The modes fast and fast_bf16 on a CUDA device, emulated where no other is asked for: products in TF32 or bf16, within
// their error bounds, the same every time; and nothing of them in the mode reproducible.
#include <gtest/gtest.h>

#include <cmath>
#include <cstdlib>
#include <set>
#include <string>

#include "retrace/device/cpu/fast_mode.h"
#include "retrace/device/cpu/threads.h"
#include "retrace/device/device.h"
#include "retrace/ops/conv2d/conv2d_gradients.h"
#include "retrace/plan/device_plan.h"
#include "retrace/run/plan_cache.h"
#include "retrace/tensor/fingerprint.h"
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

// A mode, what is in the names of its kernels, and the error of a product of two rounded factors.
struct Format {
  Mode mode;
  const char* name;
  double error;
};

class CudaFast : public testing::TestWithParam<Format> {
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

  // Each factor is rounded once, by 2^-11 of it at most in TF32 and 2^-8 in bf16, and each sum of 256 terms takes at
  // most 256 roundings of f32. A mode has no kernels of another one.
  static void expect_within_bound(Function f, const std::vector<Tensor>& arguments, size_t kernels) {
    const auto [mode, name, error] = GetParam();
    const auto found = on_device(mode, f, arguments);
    EXPECT_EQ(kernels_with(name), kernels) << last_plan()->text();
    EXPECT_EQ(kernels_with("tf32") + kernels_with("bf16"), kernels) << last_plan()->text();
    const auto wanted = in_double(f, arguments, false), size = in_double(f, arguments, true);
    double most = 0;
    for (size_t i = 0; i < found.size(); ++i)
      most = std::max(most, std::fabs(double{found[i]} - wanted[i]) / (size[i] + 1e-30));
    EXPECT_LE(most, error + 256 * 0x1p-24);
    EXPECT_EQ(on_device(mode, f, arguments), found);
    const auto reproducible = on_device(Mode::reproducible, f, arguments);
    EXPECT_EQ(kernels_with("tf32") + kernels_with("bf16"), 0u);
    EXPECT_NE(found, reproducible);
    EXPECT_EQ(reproducible, f(arguments).to_vector<float>());
  }
};

INSTANTIATE_TEST_SUITE_P(Formats, CudaFast,
                         testing::Values(Format{Mode::fast, "tf32", 0x1p-10 + 0x1p-22},
                                         Format{Mode::fast_bf16, "bf16", 0x1p-7 + 0x1p-16}),
                         [](const auto& format) { return format.param.name; });

Tensor product(const std::vector<Tensor>& a) { return matmul(a[0], a[1]); }

// All tiles; columns in fours and not; factors as they lie and transposed; runs of blocks.
TEST_P(CudaFast, MatrixProductsAreWithinTheBound) {
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

// All tiles that there are of tensor cores, with kernels 4 wide (3 wide ones are quicker in f32, in windows), channels
// in fours and not, terms that end within a stage.
TEST_P(CudaFast, ConvolutionsAreWithinTheBound) {
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

TEST_P(CudaFast, ChainsAreComputedWhereTheirKernelsStore) {
  expect_within_bound(with_chain, {numbers({70, 40}, "x"), numbers({40, 66}, "w"), numbers({66}, "b")}, 1);
  EXPECT_EQ(last_plan()->kernel_calls(), 1u);
  expect_within_bound(convolution_with_chain,
                      {numbers({2, 9, 8, 3}, "x"), numbers({3, 4, 3, 16}, "w"), numbers({16}, "b")}, 1);
}

// What is infinite or NaN with the CPU is so here, too, and the rest is finite: padding meets no such number.
TEST_P(CudaFast, NumbersThatAreNotFiniteReachTheSameResults) {
  const auto expect_alike = [](Function f, const std::vector<Tensor>& arguments) {
    const auto found = on_device(GetParam().mode, f, arguments);
    EXPECT_EQ(kernels_with(GetParam().name), 1u);
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
TEST_P(CudaFast, NarrowTilesStayInF32) {
  const std::vector<Tensor> arguments{numbers({17, 64, 64, 1}, "x"), numbers({3, 3, 1, 8}, "w")};
  const auto found = on_device(GetParam().mode, convolution, arguments);
  EXPECT_EQ(kernels_with(GetParam().name), 0u);
  EXPECT_EQ(found, convolution(arguments).to_vector<float>());
}

// Whole numbers of at most 8 bits are numbers of bf16, and their sums are exact in f32, whatever the order: so is what
// has the type bf16. One number more, and it is rounded to nearest even.
TEST_P(CudaFast, FactorsThatNeedNoRoundingAreExact) {
  std::vector<float> values(40 * 70);
  for (size_t i = 0; i < values.size(); ++i) values[i] = static_cast<float>(i * 37 % 513) - 256.0f;
  values[3] = 256.0f, values[4] = 255.0f;
  const Tensor x = cast(cast(Tensor::from(values, {40, 70}), DType::bf16), DType::f32);
  const Tensor w = Tensor::from(std::vector<float>(70 * 33, 1.0f), {70, 33});
  const auto products = product({x, w}).to_vector<float>();  // first: the last plan is that of the device
  EXPECT_EQ(on_device(GetParam().mode, product, {x, w}), products);
  EXPECT_EQ(kernels_with(GetParam().name), 1u);
  const auto narrow = [](const std::vector<Tensor>& a) { return cast(matmul(a[0], a[1]), DType::f32); };
  const Tensor small = cast(x, DType::bf16), ones = cast(w, DType::bf16);
  const auto narrow_products = narrow({small, ones}).to_vector<float>();
  EXPECT_EQ(on_device(GetParam().mode, narrow, {small, ones}), narrow_products);
  EXPECT_EQ(kernels_with(GetParam().name), 1u);
}

TEST(CudaFastBf16, FactorsAreRoundedToNearestEven) {
  if (!can_use_gpu()) GTEST_SKIP() << cuda_problem();
  const std::vector<float> values{257, 259, -257, -259, 1.0f + 0x1p-8f + 0x1p-23f, 0x1p-8f + 1.0f, 0x1.ffp127f, 3};
  const std::vector<float> rounded{256, 260, -256, -260, 1.0f + 0x1p-7f, 1, INFINITY, 3};
  const ModeScope scope(Mode::fast_bf16);
  Device& device = *gpus()[0];
  const Tensor x = Tensor::from(values, {8, 1}).to(device),
               one = Tensor::from(std::vector<float>{1}, {1, 1}).to(device);
  const Tensor made = matmul(x, one);
  EXPECT_EQ(made.to_vector<float>(), rounded);
}

TEST_P(CudaFast, AJobSaysSoAndIsTheSameEveryTime) {
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
  const auto fast = trained(mode_name(GetParam().mode), "cuda", "1");
  EXPECT_EQ(fast.mode, mode_name(GetParam().mode));
  EXPECT_EQ(trained(mode_name(GetParam().mode), "cuda", "3").fingerprint, fast.fingerprint);
  const auto reproducible = trained("reproducible", "cuda", "1");
  EXPECT_NE(reproducible.fingerprint, fast.fingerprint);
  EXPECT_EQ(reproducible.fingerprint, trained("reproducible", "cpu", "2").fingerprint);
}

// Two dense layers that imitate two others, from weights near theirs, by 30 steps.
double loss_after_training(Mode mode) {
  const ModeScope scope(mode);
  Device& device = *gpus()[0];
  const Tensor x = numbers({64, 24}, "x").to(device);
  const Tensor wanted = matmul(relu(matmul(x, numbers({24, 40}, "v1").to(device))), numbers({40, 33}, "v2").to(device));
  Tree weights;
  weights["w1"] = numbers({24, 40}, "w1").to(device);
  weights["w2"] = numbers({40, 33}, "w2").to(device);
  const auto step = value_and_grad([&](const Tree& w) {
    return mean_squared_error(matmul(relu(matmul(x, w["w1"].tensor())), w["w2"].tensor()), wanted);
  });
  for (int i = 0; i < 30; ++i) {
    const auto [loss, gradients] = step(weights);
    for (const char* name : {"w1", "w2"}) weights[name] = weights[name].tensor() - gradients[name].tensor() * 0.1f;
  }
  const Tensor loss = step(weights).value;
  evaluate();
  EXPECT_EQ(kernels_with(mode == Mode::fast ? "tf32" : "bf16") > 0, mode != Mode::reproducible);
  return static_cast<double>(loss.item<float>());
}

TEST_P(CudaFast, ANetworkLearnsAsInTheModeReproducible) {
  const double there = loss_after_training(GetParam().mode), reproducible = loss_after_training(Mode::reproducible);
  EXPECT_NE(there, reproducible);
  EXPECT_NEAR(there, reproducible, 0.02 * reproducible);
}

// The mode is part of the key of plans: each has plans of its own, and none is made twice.
TEST(CudaFastModes, PlansAreKeptForEach) {
  if (!can_use_gpu()) GTEST_SKIP() << cuda_problem();
  Device& device = *gpus()[0];
  const Tensor x = numbers({40, 24}, "x").to(device), w = numbers({24, 33}, "w").to(device);
  evaluate();
  int64_t planned = 0;
  std::vector<std::string> made;
  for (int round = 0; round < 2; ++round)
    for (const Mode mode : {Mode::reproducible, Mode::fast, Mode::fast_bf16}) {
      const ModeScope scope(mode);
      const int64_t before = plan_cache().misses();
      const Tensor y = matmul(x, w);
      evaluate();
      planned += plan_cache().misses() - before;
      EXPECT_EQ(kernels_with("tf32"), mode == Mode::fast ? 1u : 0u);
      EXPECT_EQ(kernels_with("bf16"), mode == Mode::fast_bf16 ? 1u : 0u);
      made.push_back(fingerprint(y));
    }
  EXPECT_EQ(planned, 3);
  EXPECT_EQ(std::set<std::string>(made.begin(), made.end()).size(), 3u);
  for (size_t i = 0; i < 3; ++i) EXPECT_EQ(made[i], made[i + 3]);
}

}  // namespace
}  // namespace retrace
