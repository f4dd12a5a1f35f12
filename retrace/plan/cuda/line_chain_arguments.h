#pragma once
// The argument of kernels of chains of lines (line_chain_kernel.h), for host and device.

namespace retrace::cuda {

struct LineChainArguments {
  unsigned lines, blocks;
  void* counter;  // a word
};

}  // namespace retrace::cuda
