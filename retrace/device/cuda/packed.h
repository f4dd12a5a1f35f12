#pragma once
// Files that the build packs and embeds into the library (cmake/pack.cpp): images and headers of CUDA kernels.
//
// A packed file is a byte for the form and
//   '0'  the file as it is: what a build for another machine does
//   '1'  five numbers of eight bytes, the least byte first: the size of the file, a hash of its bytes, the sizes of its
//        text, of its machine code and of its packed text; then two raw streams of LZMA, packed text and packed code
// Machine code is what machine_code.h takes out of a fat binary; text is the rest, with zeros in its place and numbers
// as differences. LZMA has other contexts for instructions of 16 bytes than for text: together they take a tenth more.
//
// Differences: in PTX registers and labels are numbered. A line defines the register that comes first, and its number
// is near that of the last line; any other register is near the one that the last line with the same instruction has at
// that place, and so are offsets of addresses. So %f1234 is written as the difference from there, and $L__BB3_56 as
// that from the last label. It takes half off the text that LZMA makes of PTX, and no input is refused: where a text
// looks like a difference that is none, the byte 1 stands before it.

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

// How LZMA packs text and machine code, for both directions.
struct Packing {
  uint32_t last_byte_bits, place_bits;  // of the contexts of a byte; its place among 2^place_bits
};
inline constexpr Packing kPackedText{3, 0}, kPackedCode{0, 4};
inline constexpr uint32_t kPackedDistance = 1 << 22;  // the furthest repetition

}  // namespace retrace::cuda
