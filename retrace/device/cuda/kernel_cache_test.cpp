#include "retrace/device/cuda/kernel_cache.h"

#include <gtest/gtest.h>

#include <cstdlib>
#include <fstream>

namespace retrace::cuda {
namespace {

namespace fs = std::filesystem;

class CudaKernelCache : public testing::Test {
 protected:
  CudaKernelCache() { fs::remove_all(folder_); }
  ~CudaKernelCache() override { fs::remove_all(folder_); }
  fs::path only_file() const { return fs::directory_iterator(folder_)->path(); }

  const fs::path folder_ = fs::path(testing::TempDir()) / "kernel_cache_test";
  const KernelCache cache_{folder_ / "deep"};
};

TEST_F(CudaKernelCache, FindsWhatWasStoredUnderTheKey) {
  EXPECT_EQ(cache_.find("key"), std::nullopt);
  const std::string bytes("\0bytes\xff", 7);
  cache_.store("key", bytes);
  EXPECT_EQ(cache_.find("key"), bytes);
  EXPECT_EQ(cache_.find("other"), std::nullopt);
  cache_.store("key", "other bytes");
  EXPECT_EQ(cache_.find("key"), "other bytes");
}

TEST_F(CudaKernelCache, DamagedFilesAreAsIfAbsent) {
  const KernelCache cache(folder_);
  cache.store("key", "some bytes");
  std::ifstream input(only_file(), std::ios::binary);
  const std::string good((std::istreambuf_iterator<char>(input)), {});
  const auto write = [&](const std::string& text) { std::ofstream(only_file(), std::ios::binary) << text; };
  for (size_t i = 0; i < good.size(); ++i) {
    std::string damaged = good;
    damaged[i] = static_cast<char>(damaged[i] ^ 1);
    write(damaged);
    EXPECT_EQ(cache.find("key"), std::nullopt) << i;
    write(good.substr(0, i));
    EXPECT_EQ(cache.find("key"), std::nullopt) << i;
  }
  write(good + "x");
  EXPECT_EQ(cache.find("key"), std::nullopt);
  write(good);
  EXPECT_EQ(cache.find("key"), "some bytes");
}

TEST_F(CudaKernelCache, AFolderThatCannotBeMadeIsNoCache) {
  fs::create_directories(folder_);
  std::ofstream(folder_ / "file") << "in the way";
  const KernelCache cache(folder_ / "file" / "folder");
  cache.store("key", "bytes");
  EXPECT_EQ(cache.find("key"), std::nullopt);
}

TEST_F(CudaKernelCache, TheEnvironmentNamesTheFolder) {
  setenv("RETRACE_KERNEL_CACHE", folder_.c_str(), 1);
  KernelCache().store("key", "bytes");
  EXPECT_EQ(KernelCache(folder_).find("key"), "bytes");
  setenv("RETRACE_KERNEL_CACHE", "off", 1);
  KernelCache().store("another key", "bytes");
  EXPECT_EQ(KernelCache().find("another key"), std::nullopt);
  EXPECT_FALSE(fs::exists("off"));
  unsetenv("RETRACE_KERNEL_CACHE");
}

}  // namespace
}  // namespace retrace::cuda
