#pragma once
// What goes to the host behind a step: the arguments of the kernel that takes it there, without the copy engine, which
// keeps the next step waiting.

#include "retrace/device/cuda/global.h"

namespace retrace::cuda {

inline constexpr int kMostLateParts = 2;

// to = the words of all parts, one part behind the other. `to` is memory of the host that the device reaches.
struct LateCopyArguments {
  Global<const unsigned> from[kMostLateParts];
  Global<unsigned> to;
  int words[kMostLateParts];
};

}  // namespace retrace::cuda
