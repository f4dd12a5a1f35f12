#include "retrace/ops/reduce/reduce_cuda.h"

namespace retrace::cuda {

RT_KERNEL_BOUNDS(sum_columns_f32, 256, ReduceArguments, a) { reduce_pass<SumPolicy<float, float, false>>(a); }
RT_KERNEL_BOUNDS(sum_rows_f32, 256, ReduceArguments, a) { reduce_pass<SumPolicy<float, float, true>>(a); }
RT_KERNEL_BOUNDS(sum_columns_i32, 256, ReduceArguments, a) { reduce_pass<SumPolicy<int, unsigned, false>>(a); }
RT_KERNEL_BOUNDS(sum_rows_i32, 256, ReduceArguments, a) { reduce_pass<SumPolicy<int, unsigned, true>>(a); }
RT_KERNEL_BOUNDS(sum_columns_u8, 256, ReduceArguments, a) { reduce_pass<SumPolicy<unsigned char, unsigned, false>>(a); }
RT_KERNEL_BOUNDS(sum_rows_u8, 256, ReduceArguments, a) { reduce_pass<SumPolicy<unsigned char, unsigned, true>>(a); }

}  // namespace retrace::cuda
