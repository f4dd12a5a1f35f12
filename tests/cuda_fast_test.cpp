// The mode fast on a CUDA device, emulated where no other is asked for: products in TF32, within its error bound, the
// same every time; and nothing of it in the mode reproducible.
#include <gtest/gtest.h>

#include <cmath>
#include <cstdlib>
#include <string>

#include "retrace/device/cpu/threads.h"
#include "retrace/device/device.h"
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

TEST_F(CudaFast, AJobSaysSoAndIsTheSameEveryTime) {
  const auto trained = [](const char* mode, const char* device, const char* threads) {
    return train_job(read_job(golden_path("digits"), {{"training.max_epochs", "1", ""},
                                                      {"training.mini_batch_size", "8", ""},
                                                      {"data.train_samples", "24", ""},
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
