// The matrix product's kernels of the modes fast and fast_bf16 as they are compiled with the library.
#include "retrace/ops/matmul/matmul_fast_cuda.h"

namespace retrace::cuda {

RT_PLAIN_FORM(matmul_tf32_128x128)
RT_PLAIN_FORM(matmul_tf32_64x64)
RT_PLAIN_FORM(matmul_tf32_128x32)
RT_PLAIN_FORM(matmul_tf32_32x32)

RT_PLAIN_FORM(matmul_bf16_128x128)
RT_PLAIN_FORM(matmul_bf16_64x64)
RT_PLAIN_FORM(matmul_bf16_128x32)
RT_PLAIN_FORM(matmul_bf16_32x32)

}  // namespace retrace::cuda
