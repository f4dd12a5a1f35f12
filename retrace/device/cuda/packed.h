#pragma once
// Files that the build packs and embeds into the library (cmake/pack.cpp): images and headers of CUDA kernels.
//
// A packed file is a byte for the form, eight for the size of the file, eight for a hash of its bytes (least byte
// first), and
//   '0'  the file as it is, without size and hash: what a build for another machine does
//   '1'  a frame of zstd, which holds the file with registers of machine code (machine_code.h) and numbers as
//   differences
// Differences: in PTX registers and labels are numbered, and one operand's number is near the number that the same
// operand of the line before has. So %f1234 is written as the difference from the last number of an F register at that
// place of a line, and $L__BB3_56 as that from the last label. It takes a third off the text that zstd makes of PTX,
// and no input is refused: where a text looks like a difference that is none, the byte 1 stands before it.

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>

namespace retrace::cuda {

// The file, or nothing where the bytes are not what the build has written.
std::optional<std::string> unpacked(std::span<const std::byte> packed);

// Both directions of the differences; `as_numbers` of any text that `as_differences` has made is the text before.
std::string as_differences(std::string_view text);
std::string as_numbers(std::string_view text);

uint64_t hash_of_packed(std::string_view file);

}  // namespace retrace::cuda
