#pragma once
// The safetensors format: 8 bytes with the length of a JSON header, the header, then the bytes of all tensors,
// little-endian, row-major, without gaps. Nothing in a file is executed, and every size is checked against
// the real one before memory is taken.

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <map>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace retrace {

// One named array. `type` is the format's name (F32, F64, I64, I32, U8, BOOL, BF16, ...).
struct SafeTensor {
  std::string name;
  std::string type;
  std::vector<int64_t> shape;    // empty for a scalar
  std::vector<std::byte> bytes;  // product of the shape times the size of the type
};

struct SafeTensors {
  std::vector<SafeTensor> tensors;  // read: in the order of their bytes; written: any order
  std::map<std::string, std::string> metadata;
  // The tensor of that name, or null.
  const SafeTensor* find(std::string_view name) const;
};

// Bytes of one element of a type of the format, 0 for an unknown type.
int safetensors_type_size(std::string_view type);

// Reads a file. Errors name the file and the tensor: missing, or bad_data for a header that is too long, no
// JSON, too deep, has repeated names, unknown types, sizes that overflow or do not match, offsets that overlap,
// leave holes or pass the end, names with control characters or "..", and bytes after the last tensor.
SafeTensors read_safetensors(const std::filesystem::path& path);
// The same from memory; `file` is the name in errors.
SafeTensors parse_safetensors(std::span<const std::byte> file_bytes, std::string_view file);

// Writes a file whole or not at all (base/file.h); equal content gives equal bytes: tensors are ordered by the
// size of their type, then by name, and the data begins at a multiple of 8. Errors: usage for a tensor that no
// reader would accept (repeated or bad name, unknown type, bytes that do not match the shape), output for a
// failed write.
void write_safetensors(const std::filesystem::path& path, const SafeTensors& content);
// The bytes of that file: its length and header, and views of the tensors' bytes in the order of the file, which live
// as long as `content` does. Error(usage) as above.
struct SafeTensorsPieces {
  std::string head;
  std::vector<std::string_view> tensors;
};
SafeTensorsPieces safetensors_pieces(const SafeTensors& content);

}  // namespace retrace
