#pragma once
// zstd streams in memory.

#include <cstddef>
#include <string>
#include <string_view>

struct ZSTD_DCtx_s;

namespace retrace {

bool is_zstd(std::string_view bytes);

// Reads a zstd stream piece by piece, its checksums included; frames may follow each other. Windows of more than 128
// MiB (zstd --long=28 and above) are a fault.
class ZstdReader {
 public:
  explicit ZstdReader(std::string_view bytes);
  ~ZstdReader();
  ZstdReader(const ZstdReader&) = delete;
  ZstdReader& operator=(const ZstdReader&) = delete;

  // Fills as much of `to` as there is; fewer than `size` bytes mean the end, or a fault().
  size_t read(char* to, size_t size);
  // "" or what is wrong with the stream ("it ends early", "Restored data doesn't match checksum").
  const std::string& fault() const { return fault_; }

 private:
  ZSTD_DCtx_s* context_;
  std::string_view bytes_;
  size_t next_ = 0;           // the first byte that zstd has not taken
  bool within_frame_ = true;  // also before the first one, so that no bytes are no stream
  std::string fault_;
};

}  // namespace retrace
