#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "retrace/ops/moments/moments_cpu.cpp"
#include "retrace/device/cpu/targets.h"

#include "retrace/ops/reduce/reduce_column.h"
#include "retrace/ops/reduce/reduce_row.h"
#include "retrace/ops/reduce/reduction.h"

RT_TARGET_BEGIN

const ReduceKernels* moments_kernels(bool by_column) {
  static const ReduceKernels column = {kStrip,
                                       column_slot_size<ColumnMoments>,
                                       column_run<ColumnMoments>,
                                       column_combine<ColumnMoments>,
                                       column_combine_subtrees<ColumnMoments>,
                                       nullptr,
                                       0,
                                       short_columns<ColumnMoments>};
  static const ReduceKernels row = {kBlock,
                                    row_slot_size<RowMoments>,
                                    row_run<RowMoments>,
                                    row_combine<RowMoments>,
                                    nullptr,
                                    row_rows<RowMoments>,
                                    INT64_MAX,
                                    nullptr,
                                    row_segments<RowMoments>};
  return by_column ? &column : &row;
}

RT_TARGET_END

#if HWY_ONCE
namespace retrace {

RT_EXPORT_KERNEL(moments_kernel_table, moments_kernels);

}  // namespace retrace
#endif
