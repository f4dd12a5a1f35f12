// The matrix product's kernels as they are compiled with the library.
#include "retrace/ops/matmul/matmul_tile_cuda.h"

namespace retrace::cuda {

RT_PLAIN_FORM(matmul_128x128)
RT_PLAIN_FORM(matmul_64x64)
RT_PLAIN_FORM(matmul_128x32)
RT_PLAIN_FORM(matmul_32x32_few)
RT_PLAIN_FORM(matmul_32x32)

RT_KERNEL_BOUNDS(matmul_combine, 256, MatmulCombineArguments, m) {
  const long long i = static_cast<long long>(block().x) * block_threads().x + thread().x;
  if (i >= m.size) return;
  m.c[i] = tree_of_runs(static_cast<int>(m.runs), [&](int run) -> float { return m.parts[run * m.size + i]; }) + 0.0f;
}

}  // namespace retrace::cuda
