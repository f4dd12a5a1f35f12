#pragma once
// Compiled kernels, kept on disk between processes. Only speed depends on it: a folder that cannot be read or written,
// or a damaged file, is the same as an empty cache. Processes may share it.

#include <filesystem>
#include <optional>
#include <string>
#include <string_view>

namespace retrace::cuda {

class KernelCache {
 public:
  // The folder that RETRACE_KERNEL_CACHE names, else retrace/ in the user's cache folder; no cache for "off", or where
  // neither is known.
  KernelCache();
  // No cache for an empty path.
  explicit KernelCache(std::filesystem::path folder) : folder_(std::move(folder)) {}

  // The bytes that were stored under exactly this key. A key holds everything that the bytes depend on.
  std::optional<std::string> find(std::string_view key) const;
  // Written under another name and renamed, so that no reader sees a part of it.
  void store(std::string_view key, std::string_view bytes) const;

 private:
  std::filesystem::path path_of(std::string_view key) const;
  std::filesystem::path folder_;
};

}  // namespace retrace::cuda
