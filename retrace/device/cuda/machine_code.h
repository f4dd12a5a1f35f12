#pragma once
// Machine code in nvcc's fat binaries, apart from the rest and written so that LZMA makes less of it (packed.h).
//
// An instruction of sm_70 and newer has 16 bytes: the opcode in the low 12 bits, registers in bytes 2, 3, 4 and 8, and
// how it waits in the last ones. One register is near the one that the last instruction with the same opcode had there.
// So these four are written as differences, and first, before the bytes that are often as they were. 255, the register
// that is zero, stays.

#include <string>
#include <string_view>

namespace retrace::cuda {

// The sections .text of all ELF files in a fat binary, or in several one behind another, one after the other, with
// registers as differences. In `file` zeros take their place; a file without machine code stays as it is.
std::string take_machine_code(std::string& file);

// Writes what `take_machine_code` has returned where it was.
void put_machine_code(std::string& file, std::string_view code);

// Of fat binaries one behind another, the one with so many before it; empty if there is none.
std::string_view fat_binary_at(std::string_view files, int before);

}  // namespace retrace::cuda
