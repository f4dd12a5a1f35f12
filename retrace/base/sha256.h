#pragma once
// SHA-256 (FIPS 180-4), for manifests that others can check: sha256sum says the same.

#include <array>
#include <cstdint>
#include <filesystem>
#include <string>
#include <string_view>

namespace retrace {

// Of a stream of bytes.
class Sha256 {
 public:
  void add(std::string_view bytes);
  // Of all that was added, as 64 hexadecimal digits. Nothing can be added after it.
  std::string text();

 private:
  void take_block(const unsigned char* block);
  std::array<uint32_t, 8> sums_ = {0x6a09e667, 0xbb67ae85, 0x3c6ef372, 0xa54ff53a,
                                   0x510e527f, 0x9b05688c, 0x1f83d9ab, 0x5be0cd19};
  std::array<unsigned char, 64> block_ = {};
  uint64_t size_ = 0;
};

std::string sha256_text(std::string_view bytes);

// Size and hash of a regular file, read in pieces; `what` is what it is, for messages. Errors: as read_file().
struct FileHash {
  uint64_t bytes = 0;
  std::string sha256;
  bool operator==(const FileHash&) const = default;
};
FileHash hash_file(const std::filesystem::path& path, std::string_view what);

}  // namespace retrace
