#include "retrace/device/cuda/embedded.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <string_view>

#include "retrace/base/error.h"
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
  return unpacked_or_error({begin, end}, fmt::format("the kernels of {}", path).c_str());
}

}  // namespace retrace::cuda
