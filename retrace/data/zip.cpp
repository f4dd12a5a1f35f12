#include "retrace/data/zip.h"

#include <fmt/format.h>
#include <zlib.h>

#include <algorithm>
#include <optional>

#include "retrace/base/file.h"

namespace retrace {
namespace {

constexpr std::string_view kLocal = "PK\x03\x04", kCentral = "PK\x01\x02", kEnd = "PK\x05\x06", kEnd64 = "PK\x06\x06",
                           kEnd64Locator = "PK\x06\x07";
constexpr size_t kLocalSize = 30, kCentralSize = 46, kEndSize = 22, kEnd64Size = 56, kLocatorSize = 20;
constexpr uint64_t kMost32 = 0xffffffff;
constexpr uint64_t kDeflateRatio = 1032;  // no deflated content grows by more

Error damaged(std::string_view name, std::string_view what) {
  return Error(ErrorKind::bad_data, 656, fmt::format("the archive \"{}\" {}", printable(name), what))
      .help("fetch the file again, or write it anew with numpy.savez");
}

// The little-endian number of so many bytes.
uint64_t number(std::string_view bytes, size_t at, size_t count) {
  uint64_t value = 0;
  for (size_t i = count; i-- > 0;) value = value << 8 | static_cast<unsigned char>(bytes[at + i]);
  return value;
}

void append(std::string& out, uint64_t value, size_t count) {
  for (size_t i = 0; i < count; ++i) out += static_cast<char>(value >> (8 * i));
}

// The part of the file, if it lies within it.
std::optional<std::string_view> part(std::string_view file, uint64_t offset, uint64_t size) {
  if (offset > file.size() || size > file.size() - offset) return std::nullopt;
  return file.substr(offset, size);
}

struct Directory {
  uint64_t count = 0, size = 0, offset = 0;
};

// The last record, behind which is nothing but a comment.
Directory directory_of(std::string_view file, std::string_view name) {
  const size_t end = file.rfind(kEnd);
  if (end == std::string_view::npos || file.size() - end < kEndSize)
    throw damaged(name, file.starts_with("PK") ? "is truncated" : "is no ZIP archive");
  Directory directory{number(file, end + 10, 2), number(file, end + 12, 4), number(file, end + 16, 4)};
  if (end >= kLocatorSize && file.substr(end - kLocatorSize, 4) == kEnd64Locator) {
    const auto record = part(file, number(file, end - kLocatorSize + 8, 8), kEnd64Size);
    if (!record || !record->starts_with(kEnd64)) throw damaged(name, "has a damaged directory");
    directory = {number(*record, 32, 8), number(*record, 40, 8), number(*record, 48, 8)};
  }
  return directory;
}

// Sizes of ZIP64 stand in the field 1 of the extra data, those that the header does not hold, in their order.
void read_large_sizes(ZipMember& member, std::string_view extra, std::string_view name) {
  while (extra.size() >= 4) {
    const uint64_t id = number(extra, 0, 2), size = number(extra, 2, 2);
    const auto field = part(extra, 4, size);
    if (!field) throw damaged(name, "has a damaged directory");
    size_t at = 0;
    for (uint64_t* const value : {&member.bytes, &member.packed, &member.offset}) {
      if (id != 1 || *value != kMost32 || at + 8 > field->size()) continue;
      *value = number(*field, at, 8);
      at += 8;
    }
    extra.remove_prefix(4 + size);
  }
}

// Where the content stands: the header of a member has a name and extra data of its own.
std::string_view packed_content(std::string_view file, const ZipMember& member, std::string_view name) {
  const auto header = part(file, member.offset, kLocalSize);
  if (!header || !header->starts_with(kLocal))
    throw damaged(name, fmt::format("has no header for its member \"{}\"", printable(member.name)));
  const uint64_t names = number(*header, 26, 2) + number(*header, 28, 2);
  const auto content = part(file, member.offset + kLocalSize + names, member.packed);
  if (!content) throw damaged(name, fmt::format("ends within its member \"{}\"", printable(member.name)));
  return *content;
}

// The first `most` bytes of a content of so many.
std::optional<std::string> inflated(std::string_view packed, uint64_t bytes, uint64_t most) {
  if (bytes / kDeflateRatio > packed.size() || bytes > kMost32 || packed.size() > kMost32) return std::nullopt;
  const bool start = most < bytes;
  bytes = std::min(bytes, most);
  std::string out(bytes, '\0');
  z_stream stream{};
  ensure(inflateInit2(&stream, -MAX_WBITS) == Z_OK, "zlib starts");
  char none = 0;  // zlib wants an address
  stream.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(packed.data()));
  stream.avail_in = static_cast<uInt>(packed.size());
  stream.next_out = reinterpret_cast<Bytef*>(bytes ? out.data() : &none);
  stream.avail_out = static_cast<uInt>(bytes);
  const int status = inflate(&stream, start ? Z_SYNC_FLUSH : Z_FINISH);
  const bool ended = start ? status == Z_OK : status == Z_STREAM_END && stream.avail_in == 0;
  const bool complete = ended && stream.avail_out == 0;
  inflateEnd(&stream);
  return complete ? std::optional(std::move(out)) : std::nullopt;
}

uint32_t checksum_of(std::string_view bytes) {
  return static_cast<uint32_t>(crc32_z(0, reinterpret_cast<const Bytef*>(bytes.data()), bytes.size()));
}

}  // namespace

std::vector<ZipMember> zip_members(std::string_view file, std::string_view name) {
  const Directory directory = directory_of(file, name);
  auto rest = part(file, directory.offset, directory.size);
  std::vector<ZipMember> members;
  for (uint64_t i = 0; i < directory.count; ++i) {
    if (!rest || rest->size() < kCentralSize || !rest->starts_with(kCentral))
      throw damaged(name, "has a damaged directory");
    const uint64_t texts = number(*rest, 28, 2), extra = number(*rest, 30, 2), comment = number(*rest, 32, 2);
    const auto record = part(*rest, 0, kCentralSize + texts + extra + comment);
    if (!record) throw damaged(name, "has a damaged directory");
    ZipMember member{.name = std::string(record->substr(kCentralSize, texts)),
                     .method = static_cast<uint16_t>(number(*record, 10, 2)),
                     .checksum = static_cast<uint32_t>(number(*record, 16, 4)),
                     .packed = number(*record, 20, 4),
                     .bytes = number(*record, 24, 4),
                     .offset = number(*record, 42, 4)};
    read_large_sizes(member, record->substr(kCentralSize + texts, extra), name);
    const bool encrypted = number(*record, 8, 2) & 1;
    if (encrypted || (member.method != 0 && member.method != 8))
      throw Error(ErrorKind::bad_data, 657,
                  fmt::format("the member \"{}\" of the archive \"{}\" is {}", printable(member.name), printable(name),
                              encrypted ? "encrypted" : fmt::format("compressed by method {}", member.method)))
          .expected("members that are stored or deflated, as numpy.savez and numpy.savez_compressed write them");
    packed_content(file, member, name);
    members.push_back(std::move(member));
    rest = rest->substr(record->size());
  }
  return members;
}

std::string zip_content(std::string_view file, const ZipMember& member, std::string_view name, uint64_t most) {
  const std::string_view packed = packed_content(file, member, name);
  std::optional<std::string> content;
  if (member.method == 8)
    content = inflated(packed, member.bytes, most);
  else if (member.packed == member.bytes)
    content = std::string(packed.substr(0, most));
  if (!content || (most >= member.bytes && checksum_of(*content) != member.checksum))
    throw damaged(name, fmt::format("has a damaged member \"{}\"", printable(member.name)));
  return std::move(*content);
}

std::string zip_of(const std::vector<std::pair<std::string, std::string>>& members) {
  std::string file, directory;
  uint64_t total = kEndSize;
  for (const auto& [name, content] : members) total += kLocalSize + kCentralSize + 2 * name.size() + content.size();
  if (total > kMost32 || members.size() > 0xffff)
    throw Error(ErrorKind::usage, 657, "an NPZ file of this size is not written")
        .got(fmt::format("{} bytes, {} arrays", total, members.size()))
        .expected(fmt::format("at most {} bytes and 65535 arrays", kMost32))
        .help("give the file a name that ends in .safetensors");
  file.reserve(total);
  for (const auto& [name, content] : members) {
    std::string common;     // of both headers
    append(common, 20, 2);  // the version that is needed
    append(common, 0, 2), append(common, 0, 2), append(common, 0, 2);
    append(common, 0x21, 2);  // the first day of 1980
    append(common, checksum_of(content), 4);
    append(common, content.size(), 4), append(common, content.size(), 4);
    append(common, name.size(), 2), append(common, 0, 2);
    directory += kCentral;
    append(directory, 20, 2);
    directory += common;
    append(directory, 0, 2), append(directory, 0, 2), append(directory, 0, 2), append(directory, 0, 4);
    append(directory, file.size(), 4);
    directory += name;
    file.append(kLocal).append(common).append(name).append(content);
  }
  const size_t offset = file.size();
  file += directory;
  file += kEnd;
  append(file, 0, 4);
  append(file, members.size(), 2), append(file, members.size(), 2);
  append(file, directory.size(), 4), append(file, offset, 4), append(file, 0, 2);
  return file;
}

}  // namespace retrace
