#include "retrace/device/cuda/driver/driver.h"

#include <gtest/gtest.h>

#include <cstdlib>
#include <type_traits>

#include "retrace/base/error.h"
#include "tests/fake_cuda/fake_cuda.h"

// Our declarations against the toolkit's own, where it is installed.
#if __has_include(<cuda.h>)
#include <cuda.h>

namespace retrace::cuda {
namespace {

template <class Ours, class Theirs>
constexpr bool fits() {
  if constexpr (std::is_pointer_v<Ours> && std::is_pointer_v<Theirs>) {
    return fits<std::remove_pointer_t<Ours>, std::remove_pointer_t<Theirs>>();
  } else if constexpr (std::is_const_v<Ours> && std::is_const_v<Theirs>) {
    return fits<std::remove_const_t<Ours>, std::remove_const_t<Theirs>>();
  } else if constexpr (std::is_enum_v<Theirs>) {
    return std::is_same_v<Ours, int> && sizeof(Theirs) == sizeof(int);
  } else {
    return std::is_same_v<Ours, Theirs> ||
           (std::is_same_v<Ours, KernelNodeParameters> && std::is_same_v<Theirs, CUDA_KERNEL_NODE_PARAMS_v2>);
  }
}

template <class... Ours, class... Theirs>
constexpr bool call_fits(::CUresult (*)(Theirs...), void (*)(Ours...)) {
  if constexpr (sizeof...(Ours) == sizeof...(Theirs)) return (fits<Ours, Theirs>() && ...);
  return false;
}

#define COMPARE(symbol, ...)                                                                                       \
  static_assert(call_fits(static_cast<decltype(&::symbol)>(nullptr), static_cast<void (*)(__VA_ARGS__)>(nullptr)), \
                #symbol " has other arguments in cuda.h");
RT_DRIVER_CALLS(COMPARE)
#undef COMPARE

static_assert(sizeof(KernelNodeParameters) == sizeof(CUDA_KERNEL_NODE_PARAMS_v2));
static_assert(offsetof(KernelNodeParameters, function) == offsetof(CUDA_KERNEL_NODE_PARAMS_v2, func));
static_assert(offsetof(KernelNodeParameters, blocks_x) == offsetof(CUDA_KERNEL_NODE_PARAMS_v2, gridDimX));
static_assert(offsetof(KernelNodeParameters, threads_x) == offsetof(CUDA_KERNEL_NODE_PARAMS_v2, blockDimX));
static_assert(offsetof(KernelNodeParameters, shared_bytes) == offsetof(CUDA_KERNEL_NODE_PARAMS_v2, sharedMemBytes));
static_assert(offsetof(KernelNodeParameters, extra) == offsetof(CUDA_KERNEL_NODE_PARAMS_v2, extra));
static_assert(offsetof(KernelNodeParameters, kernel) == offsetof(CUDA_KERNEL_NODE_PARAMS_v2, kern));
static_assert(offsetof(KernelNodeParameters, context) == offsetof(CUDA_KERNEL_NODE_PARAMS_v2, ctx));
static_assert(kComputeCapabilityMajor == int{CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR});
static_assert(kComputeCapabilityMinor == int{CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR});
static_assert(kMaxDynamicSharedBytes == int{CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES});
static_assert(kStreamNonBlocking == int{CU_STREAM_NON_BLOCKING} && kEventDisableTiming == int{CU_EVENT_DISABLE_TIMING});
static_assert(kErrorInvalidValue == int{CUDA_ERROR_INVALID_VALUE} &&
              kErrorOutOfMemory == int{CUDA_ERROR_OUT_OF_MEMORY});
static_assert(kErrorNoDevice == int{CUDA_ERROR_NO_DEVICE} && kErrorInvalidContext == int{CUDA_ERROR_INVALID_CONTEXT});
static_assert(kErrorNoBinaryForDevice == int{CUDA_ERROR_NO_BINARY_FOR_GPU});
static_assert(kErrorNotFound == int{CUDA_ERROR_NOT_FOUND} && kErrorIllegalAddress == int{CUDA_ERROR_ILLEGAL_ADDRESS});

TEST(CudaDriverHeader, NamesInTheListOfALaunchAreTheToolkits) {
  EXPECT_EQ(kLaunchEnd, CU_LAUNCH_PARAM_END);
  EXPECT_EQ(kLaunchBuffer, CU_LAUNCH_PARAM_BUFFER_POINTER);
  EXPECT_EQ(kLaunchBufferSize, CU_LAUNCH_PARAM_BUFFER_SIZE);
}

}  // namespace
}  // namespace retrace::cuda
#endif

namespace retrace::cuda {
namespace {

class CudaDriver : public testing::Test {
 protected:
  CudaDriver() { use(FAKE_CUDA_FILE), fake_cuda::reset(); }
  ~CudaDriver() override { unsetenv("RETRACE_CUDA_DRIVER"); }
  static void use(const char* file) { setenv("RETRACE_CUDA_DRIVER", file, 1); }
  std::shared_ptr<const Driver> open() { return Driver::open(why_not_); }
  std::string why_not_;
};

TEST_F(CudaDriver, OpensTheFileThatIsNamed) {
  const auto driver = open();
  ASSERT_TRUE(driver);
  EXPECT_EQ(why_not_, "");
  EXPECT_EQ(driver->version(), 13000);
  int count = 0;
  driver->cuDeviceGetCount(&count);
  EXPECT_EQ(count, 1);
}

TEST_F(CudaDriver, SaysThatThereIsNone) {
  use("/nowhere/libcuda.so.1");
  EXPECT_FALSE(open());
  EXPECT_TRUE(why_not_.starts_with("no CUDA driver (/nowhere/libcuda.so.1) on this machine: ")) << why_not_;
}

TEST_F(CudaDriver, SaysThatALibraryIsNoDriver) {
  use("libm.so.6");
  EXPECT_FALSE(open());
  EXPECT_EQ(why_not_, "the CUDA driver has no cuInit: it is too old or damaged");
}

TEST_F(CudaDriver, SaysThatItIsTooOld) {
  fake_cuda::reset({{"Old"}}, 11080);
  EXPECT_FALSE(open());
  EXPECT_EQ(why_not_, "the CUDA driver is too old: it supports CUDA 11.8, and 12.0 or newer is needed");
}

TEST_F(CudaDriver, SaysThatThereIsNoDevice) {
  fake_cuda::reset({});
  EXPECT_FALSE(open());
  EXPECT_EQ(why_not_, "the CUDA driver does not start: cuInit: CUDA_ERROR_NO_DEVICE (the fake driver's text)");
}

TEST_F(CudaDriver, FailuresSayWhatTheyMean) {
  struct Case {
    int result;
    ErrorKind kind;
    int code;
    const char* message;
  };
  const auto driver = open();
  ASSERT_TRUE(driver);
  for (const Case& each :
       {Case{1, ErrorKind::internal, 630, "cuda: CUDA_ERROR_INVALID_VALUE (the fake driver's text)"},
        Case{2, ErrorKind::unavailable, 631,
             "cuda: no memory is left on the device or for pinned memory of the host: "
             "CUDA_ERROR_OUT_OF_MEMORY (the fake driver's text)"},
        Case{100, ErrorKind::unavailable, 632,
             "cuda: there is no such device: CUDA_ERROR_NO_DEVICE (the fake driver's text)"},
        Case{222, ErrorKind::unavailable, 633,
             "cuda: the driver cannot compile these kernels: CUDA_ERROR_UNSUPPORTED_PTX_VERSION (the "
             "fake driver's text)"},
        Case{700, ErrorKind::internal, 634,
             "cuda: the device is unusable for this process: CUDA_ERROR_ILLEGAL_ADDRESS (an illegal "
             "memory access was encountered)"},
        Case{12345, ErrorKind::internal, 630, "cuda: result 12345 (the fake driver's text)"}}) {
    fake_cuda::fail("cuDeviceGetCount", 1, each.result);
    try {
      int count = 0;
      driver->cuDeviceGetCount(&count);
      FAIL() << each.result;
    } catch (const Error& error) {
      EXPECT_EQ(error.kind(), each.kind) << each.result;
      EXPECT_EQ(error.code(), each.code);
      EXPECT_EQ(error.message(), each.message);
      EXPECT_NE(std::string(error.what()).find("where:    cuDeviceGetCount"), std::string::npos) << error.what();
      EXPECT_NE(std::string(error.what()).find("driver for CUDA 13.0"), std::string::npos) << error.what();
      EXPECT_NE(std::string(error.what()).find("help:"), std::string::npos) << error.what();
    }
  }
}

}  // namespace
}  // namespace retrace::cuda
