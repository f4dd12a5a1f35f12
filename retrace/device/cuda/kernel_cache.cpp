#include "retrace/device/cuda/kernel_cache.h"

#include <fmt/format.h>

#include <array>
#include <cstdint>
#include <cstring>
#include <system_error>

#include "retrace/base/error.h"
#include "retrace/base/file.h"
#include "retrace/base/hash.h"
#include "retrace/base/options.h"

namespace retrace::cuda {
namespace {

namespace fs = std::filesystem;
constexpr uint64_t kLimit = uint64_t{1} << 30;

// A file is this, the key, the bytes.
struct Header {
  std::array<char, 8> magic = {'r', 't', 'k', 'e', 'r', 'n', 'e', '1'};
  uint64_t key_size = 0, size = 0, hash = 0;
};

Header header_of(std::string_view key, std::string_view bytes) {
  Header header;
  header.key_size = key.size(), header.size = bytes.size(), header.hash = hash_bytes(bytes);
  return header;
}

std::string_view text_of(const Header& header) { return {reinterpret_cast<const char*>(&header), sizeof(Header)}; }

fs::path chosen_folder() {
  const std::string named = environment(EnvironmentVariable::kernel_cache);
  if (named == "off") return {};
  if (!named.empty()) return named;
  const std::string folder = cache_folder();
  return folder.empty() ? fs::path() : fs::path(folder) / "retrace";
}

}  // namespace

KernelCache::KernelCache() : KernelCache(chosen_folder()) {}

fs::path KernelCache::path_of(std::string_view key) const {
  return folder_ / fmt::format("{:016x}.kernel", hash_bytes(key));
}

std::optional<std::string> KernelCache::find(std::string_view key) const {
  if (folder_.empty()) return std::nullopt;
  std::string file;
  try {
    file = read_file(path_of(key), "compiled kernel", kLimit);
  } catch (const Error&) {
    return std::nullopt;
  }
  const size_t begin = sizeof(Header) + key.size();
  if (file.size() < begin || std::string_view(file).substr(sizeof(Header), key.size()) != key) return std::nullopt;
  std::string bytes = file.substr(begin);
  if (!file.starts_with(text_of(header_of(key, bytes)))) return std::nullopt;
  return bytes;
}

void KernelCache::store(std::string_view key, std::string_view bytes) const {
  if (folder_.empty()) return;
  std::error_code failure;
  fs::create_directories(folder_, failure);
  if (failure) return;
  const Header header = header_of(key, bytes);
  const std::array<std::string_view, 3> pieces = {text_of(header), key, bytes};
  try {
    write_file_whole(path_of(key), pieces);
  } catch (const Error&) {
    // It is compiled again next time.
  }
}

}  // namespace retrace::cuda
