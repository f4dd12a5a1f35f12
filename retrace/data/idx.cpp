#include "retrace/data/idx.h"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <cstring>
#include <optional>

#include "retrace/base/file.h"
#include "retrace/data/gzip.h"

namespace retrace {
namespace {

struct IdxType {
  unsigned char code;
  DType type;
};
constexpr IdxType kTypes[] = {{0x08, DType::u8}, {0x0c, DType::i32}, {0x0d, DType::f32}, {0x0e, DType::f64}};

Error damaged(std::string_view name, int code, std::string_view what) {
  return Error(ErrorKind::bad_data, code, fmt::format("IDX file \"{}\" {}", printable(name), what));
}

uint32_t load_u32(const char* bytes) {
  uint32_t value = 0;
  for (int i = 0; i < 4; ++i) value = value << 8 | static_cast<unsigned char>(bytes[i]);
  return value;
}

void append_u32(std::string& out, uint32_t value) {
  for (int shift = 24; shift >= 0; shift -= 8) out += static_cast<char>(value >> shift);
}

void reverse_items(std::span<std::byte> bytes, size_t item) {
  if (item == 1) return;
  for (size_t i = 0; i + item <= bytes.size(); i += item)
    std::reverse(bytes.begin() + static_cast<std::ptrdiff_t>(i), bytes.begin() + static_cast<std::ptrdiff_t>(i + item));
}

// The content of a file, decompressed where needed, from its beginning on.
class Content {
 public:
  Content(std::string_view file, std::string_view name) : file_(file), name_(name) {
    if (is_gzip(file)) gzip_.emplace(file);
  }
  // Exactly `size` bytes, or the error that the file is truncated; `expected` is the size of the whole content.
  void read(char* to, size_t size, const std::string& expected) {
    size_t count = std::min(size, file_.size() - std::min(file_.size(), done_));
    if (gzip_)
      count = gzip_->read(to, size);
    else if (count)
      std::memcpy(to, file_.data() + done_, count);
    done_ += count;
    check_gzip();
    if (count < size) throw truncated(gzip_ ? done_ : file_.size(), expected);
  }
  // Refuses bytes after the values; checks gzip's checksum.
  void finish(const std::string& expected) {
    char more = 0;
    const bool surplus = gzip_ ? gzip_->read(&more, 1) == 1 : done_ < file_.size();
    check_gzip();
    if (!surplus) return;
    throw damaged(name_, 305, "has bytes after its values")
        .got(gzip_ ? fmt::format("more than {} bytes after decompression", done_)
                   : fmt::format("{} bytes", file_.size()))
        .expected(expected);
  }
  // Refuses a content of `size` bytes that the file cannot hold.
  void check_bound(uint64_t size, const std::string& expected) const {
    if (size <= bound()) return;
    if (!gzip_) throw truncated(file_.size(), expected);
    throw damaged(name_, 304, "is truncated")
        .got(fmt::format("{} bytes, in which gzip can pack {} at most", file_.size(), bound()))
        .expected(expected)
        .help("fetch the file again");
  }

 private:
  uint64_t bound() const { return gzip_ ? file_.size() * kGzipRatio : file_.size(); }
  Error truncated(uint64_t found, const std::string& expected) const {
    return damaged(name_, 304, "is truncated")
        .got(fmt::format("{} bytes{}", found, gzip_ ? " after decompression" : ""))
        .expected(expected)
        .help("fetch the file again");
  }
  void check_gzip() const {
    if (!gzip_ || gzip_->fault().empty()) return;
    throw damaged(name_, 306, fmt::format("is compressed by gzip, and the compression is damaged: {}", gzip_->fault()))
        .got(fmt::format("{} good bytes from {} compressed ones", done_, file_.size()))
        .help("fetch or compress the file again");
  }
  std::string_view file_, name_;
  std::optional<GzipReader> gzip_;
  size_t done_ = 0;
};

DType checked_type(std::string_view head, std::string_view name) {
  const auto byte = [&](size_t i) { return static_cast<unsigned char>(head[i]); };
  const std::string found = fmt::format("{:02x} {:02x} {:02x} {:02x}", byte(0), byte(1), byte(2), byte(3));
  if (byte(0) != 0 || byte(1) != 0)
    throw damaged(name, 301, "does not begin like an IDX file")
        .got(found)
        .expected("00 00, the element type, the number of axes");
  for (const auto& known : kTypes)
    if (known.code == byte(2)) return known.type;
  throw damaged(name, 302, fmt::format("has the element type 0x{:02x}, which is not read", byte(2)))
      .got(found)
      .expected("0x08 (u8), 0x0c (i32), 0x0d (f32) or 0x0e (f64)");
}

// Bytes of the values; refuses what exceeds the limit.
uint64_t checked_bytes(const IdxArray& array, std::string_view name, uint64_t limit) {
  uint64_t bytes = size_of(array.type);
  for (int64_t size : array.shape) {
    const auto factor = static_cast<uint64_t>(std::max<int64_t>(size, 1));
    if (bytes > limit / factor)
      throw damaged(name, 307, "declares more values than are read")
          .got(fmt::format("{}{}", name_of(array.type), array.shape.text()))
          .expected(fmt::format("at most {} bytes", limit));
    bytes *= factor;
  }
  return array.shape.contains(0) ? 0 : bytes;
}

// An array without values, and the bytes of its header.
struct Header {
  IdxArray array;
  uint64_t size = 0;
};

Header read_header(Content& content, std::string_view name) {
  char head[4];
  content.read(head, sizeof head, "at least a header of 8 bytes");
  Header header;
  header.array.type = checked_type({head, 4}, name);
  const int axes = static_cast<unsigned char>(head[3]);
  if (axes < 1 || axes > kMaxRank)
    throw damaged(name, 303, fmt::format("declares {} axes", axes)).expected(fmt::format("1 to {} axes", kMaxRank));
  for (int i = 0; i < axes; ++i) {
    char size[4];
    content.read(size, sizeof size, fmt::format("a header of {} bytes for {} axes", 4 + 4 * axes, axes));
    header.array.shape.push_back(load_u32(size));
  }
  header.size = 4 + 4 * static_cast<uint64_t>(axes);
  return header;
}

}  // namespace

IdxArray parse_idx(std::string_view file, std::string_view name, uint64_t limit) {
  Content content(file, name);
  auto [array, header] = read_header(content, name);
  const uint64_t bytes = checked_bytes(array, name, limit);
  const std::string expected = fmt::format("{} bytes: a header of {} and {} for {}{}", header + bytes, header, bytes,
                                           name_of(array.type), array.shape.text());
  content.check_bound(header + bytes, expected);
  array.bytes.resize(bytes);
  content.read(reinterpret_cast<char*>(array.bytes.data()), bytes, expected);
  content.finish(expected);
  reverse_items(array.bytes, size_of(array.type));
  return std::move(array);
}

IdxArray read_idx(const std::filesystem::path& path, uint64_t limit) {
  // A plain file is at most its header longer than its values; a compressed one hardly more.
  const std::string file = read_file(path, "IDX file", limit + limit / 1000 + 4096);
  return parse_idx(file, path.string(), limit);
}

IdxArray read_idx_header(const std::filesystem::path& path) {
  constexpr uint64_t kStart = 64 << 10;  // a header of gzip may hold a name
  const std::string file = read_file_start(path, "IDX file", kStart), name = path.string();
  Content content(file, name);
  return read_header(content, name).array;
}

std::string idx_bytes(const IdxArray& array) {
  const auto* known = std::find_if(std::begin(kTypes), std::end(kTypes), [&](auto& t) { return t.type == array.type; });
  if (known == std::end(kTypes))
    throw Error(ErrorKind::usage, 308, fmt::format("IDX has no element type for {}", name_of(array.type)))
        .expected("u8, i32, f32 or f64")
        .help("cast the values first");
  if (array.shape.empty()) throw Error(ErrorKind::usage, 308, "IDX needs at least one axis, and the shape is []");
  for (int64_t size : array.shape)
    if (size < 0 || size > UINT32_MAX)
      throw Error(ErrorKind::usage, 308, fmt::format("the shape {} does not fit into IDX", array.shape.text()))
          .expected("sizes of 0 to 4294967295");
  ensure(array.bytes.size() == static_cast<size_t>(array.shape.count()) * size_of(array.type), "an IDX array is full");
  std::string out = {'\0', '\0', static_cast<char>(known->code), static_cast<char>(array.shape.rank())};
  for (int64_t size : array.shape) append_u32(out, static_cast<uint32_t>(size));
  const size_t header = out.size();
  out.append(reinterpret_cast<const char*>(array.bytes.data()), array.bytes.size());
  reverse_items(std::as_writable_bytes(std::span(out).subspan(header)), size_of(array.type));
  return out;
}

void write_idx(const std::filesystem::path& path, const IdxArray& array) {
  const std::string bytes = idx_bytes(array);
  write_file_whole(path, path.extension() == ".gz" ? gzip(bytes) : bytes);
}

}  // namespace retrace
