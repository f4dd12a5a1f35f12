#pragma once
// Ops that convert types, on a CUDA device.

namespace retrace {

struct CudaCall;

// The `cuda` of an op whose result is input 0 in the type of the result, each element as converted() of
// retrace/base/convert.h makes it: by this planning knows that chains may compute it.
void cuda_conversion(const CudaCall& call);

}  // namespace retrace
