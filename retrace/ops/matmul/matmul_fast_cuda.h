#pragma once
// The matrix product's kernels of the modes fast and fast_bf16: the tiles of matmul_tile_cuda.h in
// TF32 and in bf16.

#include "retrace/ops/contraction_fast_cuda.h"
#include "retrace/ops/matmul/matmul_tile_cuda.h"

namespace retrace::cuda {

RT_KERNEL_OF_FORM(matmul_tf32_128x128, 256, 2, MatmulArguments, m, form) {
  multiply_tile<FastTile<Tf32, 128, 128, 64, 32, kMatmulPad>, 6>(m, form);
}
RT_KERNEL_OF_FORM(matmul_tf32_64x64, 64, 8, MatmulArguments, m, form) {
  multiply_tile<FastTile<Tf32, 64, 64, 64, 32, kMatmulPad>, 6>(m, form);
}
RT_KERNEL_OF_FORM(matmul_tf32_128x32, 128, 4, MatmulArguments, m, form) {
  multiply_tile<FastTile<Tf32, 128, 32, 32, 32, kMatmulPad>, 8>(m, form);
}
RT_KERNEL_OF_FORM(matmul_tf32_32x32, 64, 8, MatmulArguments, m, form) {
  multiply_tile<FastTile<Tf32, 32, 32, 16, 32, kMatmulPad>, 24>(m, form);
}

RT_KERNEL_OF_FORM(matmul_bf16_128x128, 256, 2, MatmulArguments, m, form) {
  multiply_tile<FastTile<Bf16, 128, 128, 64, 32, kMatmulPad, true>, 6>(m, form);
}
RT_KERNEL_OF_FORM(matmul_bf16_64x64, 64, 8, MatmulArguments, m, form) {
  multiply_tile<FastTile<Bf16, 64, 64, 64, 32, kMatmulPad>, 6>(m, form);
}
RT_KERNEL_OF_FORM(matmul_bf16_128x32, 128, 4, MatmulArguments, m, form) {
  multiply_tile<FastTile<Bf16, 128, 32, 32, 32, kMatmulPad>, 8>(m, form);
}
RT_KERNEL_OF_FORM(matmul_bf16_32x32, 64, 8, MatmulArguments, m, form) {
  multiply_tile<FastTile<Bf16, 32, 32, 16, 32, kMatmulPad>, 24>(m, form);
}

}  // namespace retrace::cuda
