#include "retrace/data/zstd.h"

#include <zstd.h>

#include "retrace/base/error.h"

namespace retrace {

bool is_zstd(std::string_view bytes) { return bytes.starts_with("\x28\xb5\x2f\xfd"); }

ZstdReader::ZstdReader(std::string_view bytes) : context_(ZSTD_createDCtx()), bytes_(bytes) {
  ensure(context_ != nullptr, "zstd starts");
}

ZstdReader::~ZstdReader() { ZSTD_freeDCtx(context_); }

size_t ZstdReader::read(char* to, size_t size) {
  ZSTD_outBuffer out{to, size, 0};
  while (out.pos < size && fault_.empty() && (within_frame_ || next_ < bytes_.size())) {
    ZSTD_inBuffer in{bytes_.data(), bytes_.size(), next_};
    const size_t done = out.pos, status = ZSTD_decompressStream(context_, &out, &in);
    const bool moved = in.pos > next_ || out.pos > done;
    next_ = in.pos;
    within_frame_ = status != 0;
    if (ZSTD_isError(status))
      fault_ = ZSTD_getErrorName(status);
    else if (within_frame_ && !moved)
      fault_ = "it ends early";
  }
  return out.pos;
}

}  // namespace retrace
