#include "retrace/data/image_orientation.h"

#include <cstddef>
#include <optional>

namespace retrace {
namespace {

using std::literals::operator""sv;

// A number of `count` bytes at a place that may lie behind the end.
std::optional<unsigned> exif_number(std::string_view bytes, size_t at, size_t count, bool little) {
  if (at > bytes.size() || count > bytes.size() - at) return std::nullopt;
  unsigned value = 0;
  for (size_t i = 0; i < count; ++i)
    value = value << 8 | static_cast<unsigned char>(bytes[at + (little ? count - 1 - i : i)]);
  return value;
}

// Of TIFF data: the tag 0x0112 among the entries of the first directory.
std::optional<unsigned> orientation_in(std::string_view tiff) {
  constexpr unsigned kTag = 0x0112;
  constexpr size_t kEntry = 12;
  const bool little = tiff.starts_with("II");
  const auto directory = exif_number(tiff, 4, 4, little);
  const auto count = directory ? exif_number(tiff, *directory, 2, little) : std::nullopt;
  for (size_t i = 0; count && i < *count; ++i) {
    const size_t entry = *directory + 2 + i * kEntry;
    const auto tag = exif_number(tiff, entry, 2, little);
    if (!tag) return std::nullopt;
    if (*tag == kTag) return exif_number(tiff, entry + 8, 2, little);
  }
  return std::nullopt;
}

}  // namespace

int image_orientation(std::string_view file) {
  constexpr unsigned kExif = 0xffe1, kFirst = 0xffe0, kLast = 0xffef, kComment = 0xfffe;
  if (!file.starts_with("\xff\xd8"sv)) return 1;
  size_t at = 2;
  for (;;) {
    const auto marker = exif_number(file, at, 2, false), size = exif_number(file, at + 2, 2, false);
    const bool skipped = marker && ((*marker >= kFirst && *marker <= kLast) || *marker == kComment);
    if (!skipped || !size || *size < 2 || *size > file.size() - at - 2) return 1;
    const std::string_view segment = file.substr(at + 4, *size - 2);
    if (*marker == kExif && segment.starts_with("Exif\0\0"sv)) {
      const auto found = orientation_in(segment.substr(6));
      return found && *found >= 2 && *found <= 8 ? static_cast<int>(*found) : 1;
    }
    at += 2 + *size;
  }
}

}  // namespace retrace
