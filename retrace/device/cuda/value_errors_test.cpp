// What the host makes of reports; a driver for tests stands in for the device, and the test for its kernels.
#include "retrace/device/cuda/value_errors.h"

#include <gtest/gtest.h>

#include <cstdlib>

#include "retrace/device/cuda/driver/driver_runtime.h"
#include "tests/fake_cuda/fake_cuda.h"

namespace retrace::cuda {
namespace {

class CudaValueErrors : public testing::Test {
 protected:
  CudaValueErrors() {
    setenv("RETRACE_CUDA_DRIVER", FAKE_CUDA_FILE, 1);
    fake_cuda::reset();
    runtimes_ = driver_runtimes(why_not_, {});
  }
  ~CudaValueErrors() override { unsetenv("RETRACE_CUDA_DRIVER"); }

  Runtime& runtime() { return *runtimes_.at(0); }
  static Error describe(int64_t position, int32_t value) {
    return Error(ErrorKind::usage, 177, std::to_string(value) + " at " + std::to_string(position));
  }
  void report(const ErrorTarget& target, unsigned long long position, unsigned value) {
    const unsigned long long record[] = {target.source, position << 32 | value};
    runtime().copy_from_host(target.record.pointer, record, sizeof record);
    *target.reported = 1;
  }
  static std::string thrown(ValueErrors& errors) {
    try {
      errors.check();
    } catch (const Error& error) {
      return error.message();
    }
    return "";
  }

  std::string why_not_;
  std::vector<std::unique_ptr<Runtime>> runtimes_;
};

TEST_F(CudaValueErrors, AReportIsThrownOnce) {
  ValueErrors errors(runtime());
  const ValueErrors::Source source(errors, describe);
  for (int i = 0; i < 2; ++i) {
    report(source.target(), 3'000'000'000, 0xfffffffe);
    EXPECT_EQ(thrown(errors), "-2 at 3000000000");
    EXPECT_EQ(thrown(errors), "");
  }
}

TEST_F(CudaValueErrors, NoneCostsNoCallOfTheDriver) {
  ValueErrors errors(runtime());
  errors.check();
  EXPECT_TRUE(fake_cuda::held().empty());
  const ValueErrors::Source source(errors, describe);
  const int before = fake_cuda::calls("cuCtxPushCurrent_v2");
  errors.check();
  EXPECT_EQ(fake_cuda::calls("cuCtxPushCurrent_v2"), before);
}

TEST_F(CudaValueErrors, ASourceMayEndAfterItsDeviceHasFailed) {
  ValueErrors errors(runtime());
  {
    const ValueErrors::Source source(errors, describe);
    fake_cuda::break_device(700);
  }
  EXPECT_THROW(runtime().synchronize(), Error);
}

}  // namespace
}  // namespace retrace::cuda
