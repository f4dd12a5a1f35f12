#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "retrace/ops/sum/sum_cpu.cpp"
#include "retrace/device/cpu/targets.h"

#include "retrace/ops/reduce/reduce_column.h"
#include "retrace/ops/reduce/reduce_row.h"
#include "retrace/ops/reduce/reduction.h"

RT_TARGET_BEGIN

const ReduceKernels* sum_kernels(bool by_column) {
  static const ProductKernels column_products = {column_run<ColumnSum, Factors>, strip_sums<Factors>,
                                                 short_columns<ColumnSum, Factors>};
  static const ProductKernels row_products = {row_run<RowSum, Factors>, row_rows<RowSum, Factors>, nullptr};
  static const ReduceKernels column = {kStrip,
                                       column_slot_size<ColumnSum>,
                                       column_run<ColumnSum>,
                                       column_combine<ColumnSum>,
                                       column_combine_subtrees<ColumnSum>,
                                       strip_sums<>,
                                       kStrip,
                                       short_columns<ColumnSum>,
                                       nullptr,
                                       &column_products};
  static const ReduceKernels row = {
      kBlock,  row_slot_size<RowSum>, row_run<RowSum>, row_combine<RowSum>, nullptr, row_rows<RowSum>, INT64_MAX,
      nullptr, row_segments<RowSum>,  &row_products};
  return by_column ? &column : &row;
}

RT_TARGET_END

#if HWY_ONCE
namespace retrace {

RT_EXPORT_KERNEL(sum_kernel_table, sum_kernels);

}  // namespace retrace
#endif
