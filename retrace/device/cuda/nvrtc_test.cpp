#include "retrace/device/cuda/nvrtc.h"

#include <gtest/gtest.h>

#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <optional>
#include <regex>
#include <set>

#include "retrace/base/error.h"
#include "retrace/base/file.h"
#include "retrace/device/cuda/driver/driver_runtime.h"
#include "retrace/device/cuda/embedded.h"
#include "tests/fake_cuda/fake_cuda.h"

namespace retrace::cuda {

std::span<const KernelImage> test_images();

namespace {

constexpr const char* kSource = R"(#include "retrace/ops/relu/relu_rule.h"
extern "C" __global__ void relu_kernel(float* x) { x[threadIdx.x] = retrace::rules::relu_rule(x[threadIdx.x]); }
)";

class CudaNvrtc : public testing::Test {
 protected:
  void SetUp() override {
    try {
      nvrtc_.emplace();
    } catch (const Error& error) {
      GTEST_SKIP() << error.what();
    }
  }
  std::optional<Nvrtc> nvrtc_;
};

TEST(CudaEmbedded, HeadersAreCompleteButForRemarks) {
  const std::regex remark("\n *//[^\n]*");
  std::set<std::string> paths;
  for (const auto& header : kernel_headers()) {
    EXPECT_TRUE(paths.insert(header.path).second) << header.path;
    const auto text = read_file(std::filesystem::path(RETRACE_SOURCE_DIR) / header.path, "header", 1 << 20);
    EXPECT_EQ(header.text, std::regex_replace(text, remark, ""));
  }
  EXPECT_TRUE(paths.count("retrace/base/scalar.h") && paths.count("retrace/base/philox_core.h"));
  EXPECT_TRUE(paths.count("retrace/ops/relu/relu_rule.h"));
  EXPECT_FALSE(paths.count("retrace/device/cuda/kernel_cache.h"));
}

TEST(CudaEmbedded, FlagsFixTheArithmetic) {
  const std::set<std::string> flags(arithmetic_flags().begin(), arithmetic_flags().end());
  EXPECT_EQ(flags, (std::set<std::string>{"--fmad=false", "--ftz=false", "--prec-div=true", "--prec-sqrt=true"}));
}

TEST(CudaEmbedded, ImagesAreFatBinaries) {
  if (test_images().empty()) GTEST_SKIP() << "built without nvcc";
  ASSERT_EQ(test_images().size(), 1u);
  EXPECT_STREQ(test_images()[0].path, "tests/cuda_rules_check.cu");
  constexpr unsigned char magic[] = {0x50, 0xed, 0x55, 0xba};
  EXPECT_EQ(std::memcmp(test_images()[0].fat_binary().data(), magic, sizeof magic), 0);
}

TEST(CudaNvrtcLibrary, ItsAbsenceIsTold) {
  setenv("RETRACE_NVRTC", "/nowhere/libnvrtc.so", 1);
  try {
    Nvrtc();
    FAIL();
  } catch (const Error& error) {
    EXPECT_EQ(error.kind(), ErrorKind::unavailable);
    EXPECT_NE(std::string(error.what()).find("/nowhere/libnvrtc.so"), std::string::npos) << error.what();
  }
  setenv("RETRACE_NVRTC", FAKE_CUDA_FILE, 1);
  EXPECT_THROW(Nvrtc(), Error) << "a library that is not NVRTC";
  unsetenv("RETRACE_NVRTC");
}

TEST_F(CudaNvrtc, CompilesRulesToMachineCode) {
  for (const int capability : {80, 86, 90}) {
    const auto compiled = nvrtc_->compile(kSource, capability);
    EXPECT_TRUE(
        compiled.image.starts_with("\x7f"
                                   "ELF"))
        << capability;
    EXPECT_NE(compiled.image.find("relu_kernel"), std::string::npos) << "the name is not mangled";
    EXPECT_EQ(compiled.warnings, "");
  }
}

TEST_F(CudaNvrtc, MakesPtxForDevicesThatItDoesNotKnow) {
  const auto compiled = nvrtc_->compile(kSource, 990);
  EXPECT_NE(compiled.image.find(".visible .entry relu_kernel"), std::string::npos);
  EXPECT_EQ(compiled.image.back(), '\0');
  EXPECT_THROW(nvrtc_->compile(kSource, 10), Error);
}

TEST_F(CudaNvrtc, NothingIsFusedOrFlushed) {
  const std::string ptx = nvrtc_
                              ->compile(R"(
extern "C" __global__ void kernel(float* x) { x[0] = x[1] * x[2] + x[3] / x[4]; })",
                                        990)
                              .image;
  EXPECT_EQ(ptx.find("fma"), std::string::npos) << ptx;
  EXPECT_EQ(ptx.find(".ftz"), std::string::npos) << ptx;
  EXPECT_NE(ptx.find("div.rn.f32"), std::string::npos) << ptx;
}

TEST_F(CudaNvrtc, ErrorsCarryTheLog) {
  try {
    nvrtc_->compile("extern \"C\" __global__ void kernel(float* x) { x[0] = undeclared; }", 80);
    FAIL();
  } catch (const Error& error) {
    EXPECT_EQ(error.kind(), ErrorKind::internal);
    EXPECT_EQ(error.code(), 639);
    EXPECT_NE(std::string(error.what()).find("\"undeclared\" is undefined"), std::string::npos) << error.what();
  }
}

TEST_F(CudaNvrtc, ARuntimeCompilesASourceOnceAndKeepsItOnDisk) {
  const auto folder = std::filesystem::path(testing::TempDir()) / "nvrtc_test";
  std::filesystem::remove_all(folder);
  setenv("RETRACE_KERNEL_CACHE", folder.c_str(), 1);
  setenv("RETRACE_CUDA_DRIVER", FAKE_CUDA_FILE, 1);
  fake_cuda::reset();
  std::string why_not;
  const auto runtimes = driver_runtimes(why_not);
  ASSERT_EQ(runtimes.size(), 1u);
  const std::vector<std::string> names = {"relu_kernel"};
  auto kernels = runtimes[0]->compile(kSource, names);
  ASSERT_EQ(kernels.size(), 1u);
  EXPECT_EQ(kernels[0]->name(), "relu_kernel");
  EXPECT_EQ(runtimes[0]->compile(kSource, names), kernels);
  EXPECT_EQ(fake_cuda::calls("cuModuleLoadData"), 1);
  kernels.clear();
  EXPECT_EQ(fake_cuda::held()["module"], 0) << "nobody holds a kernel of it";
  kernels = runtimes[0]->compile(kSource, names);
  EXPECT_EQ(fake_cuda::calls("cuModuleLoadData"), 2) << "loaded again, from the disk";
  const std::vector<std::string> absent = {"relu_kernel", "absent"};
  fake_cuda::fail("cuModuleGetFunction", 1, 500);
  kernels.clear();
  EXPECT_THROW(runtimes[0]->compile(kSource, absent), Error);
  EXPECT_EQ(fake_cuda::held()["module"], 0) << "a failure holds nothing";
  const auto kept = KernelCache(folder).find(nvrtc_->key(kSource, 90));
  EXPECT_TRUE(kept && kept->starts_with("\x7f"
                                        "ELF"));
  KernelCache(folder).store(nvrtc_->key(kSource, 90), "kept");
  EXPECT_EQ(compile_once(*nvrtc_, KernelCache(folder), kSource, 90), "kept");
  EXPECT_TRUE(compile_once(*nvrtc_, KernelCache(folder), kSource, 80)
                  .starts_with("\x7f"
                               "ELF"));
  unsetenv("RETRACE_CUDA_DRIVER"), unsetenv("RETRACE_KERNEL_CACHE");
  std::filesystem::remove_all(folder);
}

}  // namespace
}  // namespace retrace::cuda
