#pragma once
// NPY, the format of numpy.save: a magic, a version, a header in Python's notation, and the values of one array.

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include "retrace/tensor/shape.h"

namespace retrace {

// The largest array that is read, in bytes of values.
constexpr uint64_t kNpyLimit = uint64_t{4} << 30;

// What the values are.
enum class NpyKind { floating, whole, natural, truth };  // f, i, u, b of numpy

// Values in row-major order, in the order of the bytes of this machine.
struct NpyArray {
  NpyKind kind = NpyKind::floating;
  int item = 4;  // bytes of a value: 2, 4 or 8 of floating; 1, 2, 4 or 8 of whole and natural; 1 of truth
  Shape shape;
  std::vector<std::byte> bytes;

  bool is_floating() const { return kind == NpyKind::floating; }
  std::string text() const;  // "f8[3,4]"
  // The values rounded once to f32 (f2 exactly); truth is 0 and 1.
  std::vector<float> floats() const;
  // The values of an array that is not floating; a natural number above the largest int64_t becomes that.
  std::vector<int64_t> integers() const;
};

// The array in `path`: versions 1 to 3, little-endian f2, f4, f8, i1 to i8, u1 to u8 and b1, in row-major or
// column-major order, with at most kMaxRank axes. "x.npz/name.npy" is an array of an NPZ file. Memory is taken only for
// what the file can hold. Errors: missing; bad_data, with the file and what helps, for other types (big-endian,
// complex, texts, records, Python objects), a damaged header, too few or too many bytes.
NpyArray read_npy(const std::filesystem::path& path, uint64_t limit = kNpyLimit);
// Kind and shape alone, from the start of the file. Errors: as read_npy, of the header.
NpyArray read_npy_header(const std::filesystem::path& path);
// The same as read_npy from the bytes of a file; `name` stands for it in messages.
NpyArray parse_npy(std::string_view file, std::string_view name, uint64_t limit = kNpyLimit);

}  // namespace retrace
