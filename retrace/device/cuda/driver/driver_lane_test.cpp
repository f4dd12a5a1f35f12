// Lanes of two devices under the fake driver, which does work as late as it may.
#include "retrace/device/cuda/driver/driver_lane.h"

#include <gtest/gtest.h>

#include <array>
#include <cstdlib>
#include <numeric>

#include "retrace/base/error.h"
#include "retrace/device/cuda/driver/driver_runtime.h"
#include "tests/fake_cuda/fake_cuda.h"

namespace retrace::cuda {
namespace {

class CudaDriverLane : public testing::Test {
 protected:
  CudaDriverLane() {
    setenv("RETRACE_CUDA_DRIVER", FAKE_CUDA_FILE, 1);
    fake_cuda::reset({{"first"}, {"second"}});
    std::string why_not;
    runtimes_ = driver_runtimes(why_not, {});
  }
  ~CudaDriverLane() override { unsetenv("RETRACE_CUDA_DRIVER"); }

  std::vector<std::unique_ptr<Runtime>> runtimes_;
};

TEST_F(CudaDriverLane, CopiesFromAnotherDeviceWhatIsMadeThereBefore) {
  ASSERT_EQ(runtimes_.size(), 2u);
  const auto from = runtimes_[0]->make_lane(), to = runtimes_[1]->make_lane();
  EXPECT_NE(from->device(), to->device());
  std::array<int, 16> values{}, found{};
  std::iota(values.begin(), values.end(), 1);
  void* const a = runtimes_[0]->allocate(sizeof values);
  void* const b = runtimes_[1]->allocate(sizeof values);
  runtimes_[0]->copy_from_host(a, values.data(), sizeof values);
  to->wait_for(*from->mark_device());
  to->copy(b, *from, a, sizeof values);
  const auto arrived = to->mark();
  EXPECT_FALSE(arrived->reached());
  to->hold_device(*arrived);
  runtimes_[1]->copy_to_host(found.data(), b, sizeof found);
  EXPECT_EQ(found, values);
  EXPECT_TRUE(arrived->reached());
}

TEST_F(CudaDriverLane, GivesBackItsStreamAndItsEvents) {
  runtimes_[0]->make_lane()->mark();
  runtimes_.clear();
  EXPECT_TRUE(fake_cuda::held().empty());
}

TEST_F(CudaDriverLane, TellsThatTheDeviceHasFailed) {
  const auto lane = runtimes_[0]->make_lane();
  const auto mark = lane->mark();
  fake_cuda::fail("cuEventQuery", 1, 700);
  EXPECT_THROW(mark->reached(), Error);
}

}  // namespace
}  // namespace retrace::cuda
