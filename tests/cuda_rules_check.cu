// Compiled, never run: base/scalar.h with the elementary functions and base/philox_core.h as nvcc (host and
// device side) and NVRTC see them, with the flags of cmake/compile_options.cmake.
#include "retrace/base/philox_core.h"
#include "retrace/base/scalar.h"

namespace retrace {

#define RT_CHECK(name)                                                     \
  __global__ void name##_kernel(const float* x, float* y, int count) {     \
    const int i = static_cast<int>(blockIdx.x * blockDim.x + threadIdx.x); \
    if (i < count) y[i] = rules::name(x[i]);                               \
  }                                                                        \
  RT_CHECK_HOST(name)
#ifdef __CUDACC_RTC__
#define RT_CHECK_HOST(name)
#else
#define RT_CHECK_HOST(name)                                   \
  void name##_host(const float* x, float* y, int count) {     \
    for (int i = 0; i < count; ++i) y[i] = rules::name(x[i]); \
  }
#endif
RT_CHECK(exp)
RT_CHECK(expm1)
RT_CHECK(log)
RT_CHECK(log1p)
RT_CHECK(tanh)
RT_CHECK(sigmoid)
RT_CHECK(softplus)
RT_CHECK(erf)
RT_CHECK(sin)
RT_CHECK(cos)
RT_CHECK(sqrt)
RT_CHECK(abs)
RT_CHECK(flush)

__global__ void pow_kernel(const float* x, const float* y, float* z, int count) {
  const int i = static_cast<int>(blockIdx.x * blockDim.x + threadIdx.x);
  if (i < count) z[i] = rules::maximum(rules::pow(x[i], y[i]), rules::constant<float>(0.1));
}

// The shape of a draw: uniform numbers of one stream.
__global__ void uniform_kernel(unsigned long long key, float* y, int samples, int elements) {
  const int i = static_cast<int>(blockIdx.x * blockDim.x + threadIdx.x);
  if (i < samples * elements) y[i] = uniform_from(philox_bits(key, i / elements, i % elements));
}

}  // namespace retrace
