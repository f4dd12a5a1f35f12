// What a program keeps in statics on a CUDA device may outlive main: it ends with 0, on the emulated device and with a
// driver that ends before the program's own statics.
#include <gtest/gtest.h>

#include <cstdlib>
#include <optional>

#include "retrace/retrace.h"

namespace retrace {
namespace {

Tensor kept;
Tree tree;
std::function<Tensor(const Tensor&)> accelerated;

// In a process of its own, where nothing has used a device yet.
void keep_and_exit(bool computes) {
  if (!can_use_gpu()) std::exit(5);
  Device& cuda = *gpus()[0];
  kept = Tensor::full(2, {1000}).to(cuda);
  tree = Tree{{"inner", Tree{{"weights", Tensor::full(1, {3, 4}).to(cuda)}}}};
  if (computes) {
    accelerated = accelerate([](const Tensor& x) { return sum(matmul(x, x) + 1.0f); });
    kept = accelerated(Tensor::full(1, {4, 4}).to(cuda));
  }
  std::exit(kept.to_vector<float>()[0] == (computes ? 80 : 2) ? 0 : 6);
}

class CudaExit : public testing::Test {
 protected:
  void SetUp() override { GTEST_FLAG_SET(death_test_style, "threadsafe"); }
};

TEST_F(CudaExit, TensorsMayOutliveADriver) {
  const auto keep = [] {
    setenv("RETRACE_CUDA_EMULATION", "off", 1);
    setenv("RETRACE_CUDA_DRIVER", FAKE_CUDA_FILE, 1);
    keep_and_exit(false);
  };
  EXPECT_EXIT(keep(), testing::ExitedWithCode(0), "");
}

// Emulated where no other is asked for.
TEST_F(CudaExit, TensorsAndPlansMayOutliveTheDevice) {
  setenv("RETRACE_CUDA_EMULATION", "1", 0);
  if (!can_use_gpu()) GTEST_SKIP() << cuda_problem();
  EXPECT_EXIT(keep_and_exit(true), testing::ExitedWithCode(0), "");
}

}  // namespace
}  // namespace retrace
