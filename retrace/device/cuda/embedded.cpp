#include "retrace/device/cuda/embedded.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <mutex>
#include <string_view>

#include "retrace/base/error.h"
#include "retrace/device/cuda/machine_code.h"
#include "retrace/device/cuda/packed.h"

namespace retrace::cuda {
namespace {

std::string unpacked_or_error(std::span<const std::byte> packed, const char* what) {
  if (auto file = unpacked(packed)) return *std::move(file);
  throw Error(ErrorKind::internal, 693, fmt::format("cuda: {} in this program are damaged", what))
      .help("build or install retrace again: its file has other bytes than were written");
}

std::vector<KernelHeader> headers_of(std::string_view text) {
  std::vector<KernelHeader> headers;
  const auto line = [&] {
    const std::string_view found = text.substr(0, text.find('\n'));
    text.remove_prefix(std::min(found.size() + 1, text.size()));
    return found;
  };
  while (!text.empty()) {
    const std::string_view path = line(), digits = line();
    size_t size = 0;
    std::from_chars(digits.data(), digits.data() + digits.size(), size);
    ensure(size <= text.size(), "headers of CUDA kernels are whole");
    headers.push_back({std::string(path), std::string(text.substr(0, size))});
    text.remove_prefix(size);
  }
  return headers;
}

}  // namespace

const std::vector<KernelHeader>& kernel_headers() {
  static const std::vector<KernelHeader> headers =
      headers_of(unpacked_or_error(packed_kernel_headers(), "headers of kernels"));
  return headers;
}

std::string KernelImage::fat_binary() const {
  const std::string what = fmt::format("the kernels of {}", path);
  if (before == kAlone) return unpacked_or_error({begin, end}, what.c_str());
  // A device loads several that are packed together, one soon after the other.
  static std::mutex mutex;
  static const std::byte* last = nullptr;
  static std::string files;
  const std::lock_guard lock(mutex);
  if (last != begin) {
    last = nullptr;
    files = unpacked_or_error({begin, end}, what.c_str());
    last = begin;
  }
  return std::string(fat_binary_at(files, before));
}

}  // namespace retrace::cuda
