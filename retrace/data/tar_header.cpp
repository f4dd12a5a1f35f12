#include "retrace/data/tar_header.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>

#include "retrace/base/file.h"

namespace retrace {
namespace {

// Where a field stands in the block.
struct Field {
  size_t begin, size;
};
constexpr Field kName{0, 100}, kSize{124, 12}, kChecksum{148, 8}, kMagic{257, 6}, kPrefix{345, 155};
constexpr size_t kType = 156;

std::string_view field(std::string_view block, const Field& at) { return block.substr(at.begin, at.size); }

// Up to the first NUL.
std::string_view text(std::string_view block, const Field& at) {
  const std::string_view all = field(block, at);
  return all.substr(0, all.find('\0'));
}

// Octal digits between blanks, to a NUL or the end of the field.
std::optional<uint64_t> octal(std::string_view digits) {
  digits = digits.substr(0, digits.find('\0'));
  while (digits.starts_with(' ')) digits.remove_prefix(1);
  while (digits.ends_with(' ')) digits.remove_suffix(1);
  uint64_t value = 0;
  for (const char c : digits) {
    if (c < '0' || c > '7') return std::nullopt;
    value = value * 8 + static_cast<uint64_t>(c - '0');
  }
  return value;
}

// The first bit says that the others are the number, the most significant byte first.
std::optional<uint64_t> binary(std::string_view bytes) {
  uint64_t value = 0;
  for (size_t i = 0; i < bytes.size(); ++i) {
    const auto byte = static_cast<unsigned char>(bytes[i]) & (i == 0 ? 0x7fu : 0xffu);
    if (value >> 54) return std::nullopt;  // also of negative numbers, whose bits are ones
    value = value << 8 | byte;
  }
  return value;
}

std::optional<uint64_t> number(std::string_view bytes) {
  return static_cast<unsigned char>(bytes[0]) & 0x80u ? binary(bytes) : octal(bytes);
}

// The sum of the block's bytes, with blanks in place of the checksum. Old programs added signed ones.
bool has_checksum(std::string_view block, uint64_t wanted) {
  int64_t natural = 0, whole = 0;
  for (size_t i = 0; i < block.size(); ++i) {
    const bool own = i >= kChecksum.begin && i < kChecksum.begin + kChecksum.size;
    natural += own ? ' ' : static_cast<unsigned char>(block[i]);
    whole += own ? ' ' : static_cast<signed char>(block[i]);
  }
  return static_cast<int64_t>(wanted) == natural || static_cast<int64_t>(wanted) == whole;
}

// Takes "27 path=..." and a line feed off the front: key and value. Nothing where that does not stand there.
struct Record {
  std::string_view key, value;
};
std::optional<Record> take_record(std::string_view& records) {
  size_t length = 0;
  const auto [end, failure] = std::from_chars(records.data(), records.data() + records.size(), length);
  const auto digits = static_cast<size_t>(end - records.data());
  if (failure != std::errc() || length > records.size() || length < digits + 3 || *end != ' ') return std::nullopt;
  const std::string_view inside = records.substr(digits + 1, length - digits - 2);
  const size_t equals = inside.find('=');
  if (records[length - 1] != '\n' || equals == std::string_view::npos) return std::nullopt;
  records.remove_prefix(length);
  return Record{inside.substr(0, equals), inside.substr(equals + 1)};
}

}  // namespace

Error damaged_tar(std::string_view archive, uint64_t offset, std::string_view reason) {
  return Error(ErrorKind::bad_data, 649,
               fmt::format("the archive \"{}\" is damaged at byte {}: {}", printable(archive), offset, reason))
      .help("fetch the archive again, or make it anew with tar");
}

std::optional<TarHeader> parse_tar_header(std::string_view block, std::string_view archive, uint64_t offset) {
  if (std::all_of(block.begin(), block.end(), [](char c) { return c == '\0'; })) return std::nullopt;
  const auto checksum = octal(field(block, kChecksum));
  if (!checksum || !has_checksum(block, *checksum))
    throw damaged_tar(archive, offset, "no header with a right checksum is there");
  const auto bytes = number(field(block, kSize));
  if (!bytes) throw damaged_tar(archive, offset, "the size of a member is no number");
  TarHeader header{std::string(text(block, kName)), *bytes, block[kType] == '\0' ? '0' : block[kType]};
  const bool ustar = field(block, kMagic) == std::string_view("ustar\0", 6);
  if (const auto prefix = text(block, kPrefix); ustar && !prefix.empty())
    header.name = fmt::format("{}/{}", prefix, header.name);
  return header;
}

PaxRecords parse_pax(std::string_view records, std::string_view archive, uint64_t offset) {
  PaxRecords found;
  while (!records.empty()) {
    const auto record = take_record(records);
    if (!record) throw damaged_tar(archive, offset, "what describes the next member has no records");
    const auto& [key, value] = *record;
    if (key == "path") found.name = value;
    if (key.starts_with("GNU.sparse.")) found.sparse = true;
    if (key != "size") continue;
    uint64_t bytes = 0;
    const auto [end, failure] = std::from_chars(value.data(), value.data() + value.size(), bytes);
    if (failure != std::errc() || end != value.data() + value.size())
      throw damaged_tar(archive, offset, "the size of a member is no number");
    found.bytes = bytes;
  }
  return found;
}

std::string tar_path(std::string_view name, std::string_view archive) {
  std::string path;
  for (size_t begin = 0; begin < name.size();) {
    const size_t end = std::min(name.find('/', begin), name.size());
    const std::string_view part = name.substr(begin, end - begin);
    begin = end + 1;
    if (part.empty() || part == ".") continue;
    if (part == ".." || part.find('\0') != std::string_view::npos)
      throw Error(ErrorKind::bad_data, 652,
                  fmt::format("the archive \"{}\" has a member \"{}\", which is not within it", printable(archive),
                              printable(name)))
          .help("make the archive anew, in the folder that holds its files");
    path += (path.empty() ? "" : "/") + std::string(part);
  }
  return path;
}

}  // namespace retrace
