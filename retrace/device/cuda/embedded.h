#pragma once
// Files that the build embeds into the library for CUDA (cmake/cuda.cmake).

#include <cstddef>
#include <span>
#include <string>
#include <vector>

namespace retrace::cuda {

// A header that kernels made at run time may include, by its path from the root, without lines that are remarks.
struct KernelHeader {
  std::string path, text;
};
// Unpacked on first use.
const std::vector<KernelHeader>& kernel_headers();

// The same as the build has packed them: for each header a line with its path, a line with its size, and its text.
std::span<const std::byte> packed_kernel_headers();

// The flags of nvcc and NVRTC that fix the arithmetic.
std::span<const char* const> arithmetic_flags();

// The kernels of one .cu file, as nvcc's fat binary: machine code for several architectures, and PTX.
struct KernelImage {
  const char* path;              // of the .cu file, from the root
  const std::byte *begin, *end;  // packed (packed.h)
  const char* kernels;           // their names, a space behind each
  int before = kAlone;           // fat binaries that are packed before it: those of some files are packed together
  static constexpr int kAlone = -1;

  // What nvcc has written. Throws Error(internal) where the bytes are damaged.
  std::string fat_binary() const;
};
// Empty in a build without nvcc.
std::span<const KernelImage> kernel_images();

}  // namespace retrace::cuda
