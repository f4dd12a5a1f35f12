#pragma once
// The matrix product's kernels of the mode fast: the tiles of matmul_tile_cuda.h in TF32.

#include "retrace/ops/contraction_tf32_cuda.h"
#include "retrace/ops/matmul/matmul_tile_cuda.h"

namespace retrace::cuda {

RT_KERNEL_OF_FORM(matmul_tf32_128x128, 256, 2, MatmulArguments, m, form) {
  multiply_tile<Tf32Tile<128, 128, 64, 32, kMatmulPad>, 6>(m, form);
}
RT_KERNEL_OF_FORM(matmul_tf32_64x64, 64, 8, MatmulArguments, m, form) {
  multiply_tile<Tf32Tile<64, 64, 64, 32, kMatmulPad>, 6>(m, form);
}
RT_KERNEL_OF_FORM(matmul_tf32_128x32, 128, 4, MatmulArguments, m, form) {
  multiply_tile<Tf32Tile<128, 32, 32, 32, kMatmulPad>, 8>(m, form);
}
RT_KERNEL_OF_FORM(matmul_tf32_32x32, 64, 8, MatmulArguments, m, form) {
  multiply_tile<Tf32Tile<32, 32, 16, 32, kMatmulPad>, 24>(m, form);
}

}  // namespace retrace::cuda
