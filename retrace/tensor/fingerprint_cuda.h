#pragma once
// Arguments of the kernels of fingerprints.

#include "retrace/device/cuda/global.h"

namespace retrace {

template <class Word>
struct FingerprintArguments {
  cuda::Global<const Word> elements;
  cuda::Global<unsigned long long> sum;  // to which the terms are added
  unsigned long long count;
};

}  // namespace retrace
