#pragma once
// Arguments of the kernels of random.h.

#include "retrace/device/cuda/fast_divide.h"

namespace retrace {

struct CudaCall;

template <class T>
struct DrawArguments {
  cuda::Global<const unsigned> key;  // seed and step, low word before high
  cuda::Global<T> y;
  unsigned long long purpose, ordinal, first_sample;
  unsigned quads;            // groups of four elements of all samples, each sample's last one perhaps not full
  unsigned elements;         // of a sample
  unsigned n;                // integers below it
  cuda::Divisor quads_each;  // of a sample
};

// Add the launch.
void cuda_uniform(const CudaCall& call);
void cuda_normal(const CudaCall& call);
void cuda_integers(const CudaCall& call);

}  // namespace retrace
