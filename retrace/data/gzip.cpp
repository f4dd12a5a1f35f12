#include "retrace/data/gzip.h"

#include <algorithm>

#include "retrace/base/error.h"

namespace retrace {
namespace {
constexpr int kGzipOnly = 16 + MAX_WBITS;
constexpr size_t kPiece = size_t{1} << 30;  // zlib counts in 32 bits

Bytef* zlib_bytes(const char* bytes) { return reinterpret_cast<Bytef*>(const_cast<char*>(bytes)); }
}  // namespace

bool is_gzip(std::string_view bytes) { return bytes.size() >= 2 && bytes[0] == '\x1f' && bytes[1] == '\x8b'; }

std::string gzip(std::string_view bytes) {
  z_stream stream{};
  ensure(deflateInit2(&stream, 9, Z_DEFLATED, kGzipOnly, 8, Z_DEFAULT_STRATEGY) == Z_OK, "zlib starts");
  std::string out;
  std::string piece(size_t{1} << 16, '\0');
  int status = Z_OK;
  while (status == Z_OK) {
    if (stream.avail_in == 0) {
      stream.next_in = zlib_bytes(bytes.data());
      stream.avail_in = static_cast<uInt>(std::min(bytes.size(), kPiece));
      bytes.remove_prefix(stream.avail_in);
    }
    stream.next_out = zlib_bytes(piece.data());
    stream.avail_out = static_cast<uInt>(piece.size());
    status = deflate(&stream, bytes.empty() ? Z_FINISH : Z_NO_FLUSH);
    out.append(piece, 0, piece.size() - stream.avail_out);
  }
  deflateEnd(&stream);
  ensure(status == Z_STREAM_END, "zlib compresses");
  return out;
}

GzipReader::GzipReader(std::string_view bytes) : rest_(bytes) {
  ensure(inflateInit2(&stream_, kGzipOnly) == Z_OK, "zlib starts");
}

GzipReader::~GzipReader() { inflateEnd(&stream_); }

// After the end of a member: true if another one begins.
bool GzipReader::next_member() {
  const std::string_view left(reinterpret_cast<const char*>(stream_.next_in), stream_.avail_in + rest_.size());
  ended_ = left.empty();
  if (ended_) return false;
  if (is_gzip(left) && inflateReset(&stream_) == Z_OK) return true;
  fault_ = "other bytes follow the compressed ones";
  return false;
}

size_t GzipReader::read(char* to, size_t size) {
  size_t done = 0;
  while (done < size && fault_.empty() && !ended_) {
    if (stream_.avail_in == 0) {
      stream_.next_in = zlib_bytes(rest_.data());
      stream_.avail_in = static_cast<uInt>(std::min(rest_.size(), kPiece));
      rest_.remove_prefix(stream_.avail_in);
    }
    stream_.next_out = zlib_bytes(to + done);
    const size_t room = std::min(size - done, kPiece);
    stream_.avail_out = static_cast<uInt>(room);
    const int status = inflate(&stream_, Z_NO_FLUSH);
    done += room - stream_.avail_out;
    if (status == Z_STREAM_END)
      next_member();
    else if (status == Z_BUF_ERROR || (status == Z_OK && stream_.avail_in == 0 && rest_.empty() && stream_.avail_out))
      fault_ = "it ends early";
    else if (status != Z_OK)
      fault_ = stream_.msg ? stream_.msg : "it is not a gzip stream";
  }
  return done;
}

}  // namespace retrace
