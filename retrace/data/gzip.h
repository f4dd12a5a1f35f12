#pragma once
// gzip streams in memory.

#include <zlib.h>

#include <cstddef>
#include <string>
#include <string_view>

namespace retrace {

// No gzip file of n bytes holds more than n times this.
constexpr uint64_t kGzipRatio = 1032;

bool is_gzip(std::string_view bytes);

// The whole of `bytes` as one gzip member without a time stamp or name: the same input gives the same output with
// one version of zlib.
std::string gzip(std::string_view bytes);

// Reads a gzip stream piece by piece, its checksums included; members may follow each other.
class GzipReader {
 public:
  explicit GzipReader(std::string_view bytes);
  ~GzipReader();
  GzipReader(const GzipReader&) = delete;
  GzipReader& operator=(const GzipReader&) = delete;

  // Fills as much of `to` as there is; fewer than `size` bytes mean the end, or a fault().
  size_t read(char* to, size_t size);
  // "" or what is wrong with the stream ("it ends early", "incorrect data check").
  const std::string& fault() const { return fault_; }

 private:
  bool next_member();
  z_stream stream_{};
  std::string_view rest_;  // not yet given to zlib
  bool ended_ = false;
  std::string fault_;
};

}  // namespace retrace
