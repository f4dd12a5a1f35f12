#pragma once
// The JSON header of the safetensors format; used by safetensors.cpp.

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

namespace retrace::safetensors {

constexpr uint64_t kMaxHeader = 100'000'000;  // the format's own limit

struct Entry {
  std::string name, type;
  std::vector<int64_t> shape;
  uint64_t begin = 0, end = 0;  // offsets in the data, which starts after the header
};

struct Header {
  std::vector<Entry> entries;
  std::map<std::string, std::string> metadata;
};

int type_size(std::string_view type);
// Why no tensor may have this name, or "".
std::string bad_name(std::string_view name);

// Reads the header; the entries come back ordered by their offsets and cover the `data_size` bytes exactly.
// Throws Error(bad_data) that names `file` and the tensor.
Header parse_header(std::string_view text, uint64_t data_size, std::string_view file);
// The text of a header, padded with spaces to a multiple of 8. Throws Error(usage) for text that is no UTF-8 or
// a header over kMaxHeader.
std::string header_text(const Header& header);

}  // namespace retrace::safetensors
