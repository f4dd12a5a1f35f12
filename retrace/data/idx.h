#pragma once
// IDX, the format of MNIST: two zero bytes, an element type, the number of axes, big-endian u32 sizes, big-endian
// values in row-major order; plain or compressed by gzip (told apart by their first bytes, not by the name).

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "retrace/tensor/dtype.h"
#include "retrace/tensor/shape.h"

namespace retrace {

// The largest array that is read, in bytes of values.
constexpr uint64_t kIdxLimit = uint64_t{4} << 30;

// u8, i32, f32 or f64; at least one axis and at most kMaxRank; `bytes` in the order of this machine.
struct IdxArray {
  DType type = DType::u8;
  Shape shape;
  std::vector<std::byte> bytes;

  // The values as T, which must be the element type.
  template <class T>
  std::span<const T> values() const {
    ensure(dtype_of<T>() == type, "the asked type of an IDX array is its own");
    return {reinterpret_cast<const T*>(bytes.data()), bytes.size() / sizeof(T)};
  }
};

// The array in `path`. Memory is taken only for what the header declares and the file can hold: at most `limit`
// bytes, and no more than gzip could have packed into the file. Errors: missing, with the nearest name that exists;
// bad_data, with the file and the expected and found sizes, for a wrong header, too few or too many bytes, or
// damaged compression.
IdxArray read_idx(const std::filesystem::path& path, uint64_t limit = kIdxLimit);

// Type and shape alone, without values, from the start of the file. Errors: as read_idx, of the header.
IdxArray read_idx_header(const std::filesystem::path& path);

// The same as read_idx from the bytes of a file; `name` stands for it in messages.
IdxArray parse_idx(std::string_view file, std::string_view name, uint64_t limit = kIdxLimit);

// Writes `path` whole or not at all; compressed if its name ends in ".gz". Errors: output; usage for bool values or
// sizes that the format cannot say.
void write_idx(const std::filesystem::path& path, const IdxArray& array);

// The uncompressed bytes of such a file.
std::string idx_bytes(const IdxArray& array);

}  // namespace retrace
