// Rows by their numbers, one thread an element. A number that is no row's is reported.
#include "retrace/device/cuda/kernel.h"
#include "retrace/ops/gather_rows/gather_rows_cuda.h"

namespace retrace::cuda {
namespace {

template <class T>
RT_DEVICE void gather_element(const GatherRowsArguments<T>& a) {
  const unsigned i = element_number();
  if (i >= a.count) return;
  const auto [number, column] = a.width.split(i);
  const int row = a.index[number];
  T value = a.missing;
  if (row >= 0 && static_cast<unsigned>(row) < a.rows)
    value = a.table[static_cast<long long>(row) * a.width.divisor + column];
  else if (column == 0)
    report_error(a.errors, number, row);
  a.y[i] = value;
}

}  // namespace

RT_KERNEL(check_rows, CheckRowsArguments, a) {
  const unsigned i = element_number();
  if (i >= a.count) return;
  const int row = a.index[i];
  if (row < 0 || static_cast<unsigned>(row) >= a.rows) report_error(a.errors, i, row);
}

RT_KERNEL(gather_rows_1, GatherRowsArguments<unsigned char>, a) { gather_element(a); }
RT_KERNEL(gather_rows_2, GatherRowsArguments<unsigned short>, a) { gather_element(a); }
RT_KERNEL(gather_rows_4, GatherRowsArguments<unsigned>, a) { gather_element(a); }
RT_KERNEL(gather_rows_8, GatherRowsArguments<unsigned long long>, a) { gather_element(a); }
RT_KERNEL(gather_rows_16, GatherRowsArguments<Words4>, a) { gather_element(a); }

}  // namespace retrace::cuda
