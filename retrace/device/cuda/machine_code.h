#pragma once
// Machine code in nvcc's fat binaries, written so that zstd makes a tenth less of it (packed.h).
//
// An instruction of sm_70 and newer has 16 bytes: the opcode in the low 12 bits, registers in bytes 2, 3, 4 and 8, and
// how it waits in the last ones. One register is near the one that the last instruction with the same opcode had there.
// So these four are written as differences, and first, before the bytes that are often as they were. 255, the register
// that is zero, stays.

#include <string>

namespace retrace::cuda {

// Both directions, in place, for each section .text of each ELF file in a fat binary; anything else stays as it is.
void registers_to_differences(std::string& file);
void differences_to_registers(std::string& file);

}  // namespace retrace::cuda
