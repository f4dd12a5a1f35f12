// The matrix product's kernels of the mode fast as they are compiled with the library.
#include "retrace/ops/matmul/matmul_tf32_cuda.h"

namespace retrace::cuda {

RT_PLAIN_FORM(matmul_tf32_128x128)
RT_PLAIN_FORM(matmul_tf32_64x64)
RT_PLAIN_FORM(matmul_tf32_128x32)
RT_PLAIN_FORM(matmul_tf32_32x32)

}  // namespace retrace::cuda
