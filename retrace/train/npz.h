#pragma once
// NPZ, the format of numpy.savez: a ZIP archive with an NPY file for each array.

#include <filesystem>

#include "retrace/train/safetensors.h"

namespace retrace {

// The arrays of a file by their names, without ".npy": stored or deflated, in row-major or column-major order. Of
// whole numbers u1, i4 and i8 keep their type, i1, i2 and u2 become I32, u4 and u8 I64. Errors: missing; bad_data for
// damaged files, as parse_npy() of each array, for whole numbers that I64 does not hold, and for members that are no
// arrays.
SafeTensors read_npz(const std::filesystem::path& path);
// The same of the bytes of a file, which `name` stands for in messages.
SafeTensors parse_npz(std::string_view file, std::string_view name);

// Of a file whose name ends in .npz read_npz(), of others read_safetensors().
SafeTensors read_tensors(const std::filesystem::path& path);

// Writes F32, F64, F16, I32, I64, U8 and BOOL, whole or not at all; equal tensors give equal bytes. Errors: output;
// usage for BF16, which NPY does not have, and for 4 GiB or more.
void write_npz(const std::filesystem::path& path, const SafeTensors& content);

}  // namespace retrace
