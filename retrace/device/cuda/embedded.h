#pragma once
// Files that the build embeds into the library for CUDA (cmake/cuda.cmake).

#include <cstddef>
#include <span>

namespace retrace::cuda {

// A header that kernels made at run time may include, by its path from the root.
struct KernelHeader {
  const char* path;
  const char* text;
};
std::span<const KernelHeader> kernel_headers();

// The flags of nvcc and NVRTC that fix the arithmetic.
std::span<const char* const> arithmetic_flags();

// The kernels of one .cu file, as nvcc's fat binary: machine code for several architectures, and PTX.
struct KernelImage {
  const char* path;  // of the .cu file, from the root
  const std::byte* bytes;
  const char* kernels;  // their names, a space behind each
};
// Empty in a build without nvcc.
std::span<const KernelImage> kernel_images();

}  // namespace retrace::cuda
