#include "retrace/ops/copy/strided_copy_cuda.h"

#include "retrace/ops/copy/strided_copy.h"
#include "retrace/ops/cuda_call.h"

namespace retrace {
namespace {

bool all_multiples(const Shape& strides, int64_t of) {
  for (int i = 0; i + 1 < strides.rank(); ++i)
    if (strides[i] % of != 0) return false;
  return true;
}

bool at_multiple_of_16(const void* address) { return reinterpret_cast<uintptr_t>(address) % 16 == 0; }

// The same copy in items of 16 bytes, where every row is made of whole ones. Buffers begin at multiples of 16 bytes, so
// that the answer is the same in every run.
bool widen(size_t item, const void* from, const void* to, StridedLayout& layout) {
  const int last = layout.shape.rank() - 1;
  const auto items = static_cast<int64_t>(16 / item);
  const bool whole = layout.from[last] == 1 && layout.to[last] == 1 && layout.shape[last] % items == 0 &&
                     all_multiples(layout.from, items) && all_multiples(layout.to, items) && at_multiple_of_16(from) &&
                     at_multiple_of_16(to);
  if (!whole) return false;
  layout.shape[last] /= items;
  for (int i = 0; i < last; ++i) layout.from[i] /= items, layout.to[i] /= items;
  return true;
}

template <class T>
void add_strided_copy_cuda(cuda::Launches& launches, std::string_view kernel, const StridedLayout& layout,
                           const void* from, void* to) {
  StridedCopyArguments<T> arguments{from, to, cuda_count(layout.shape.count()), layout.shape.rank(), {}, {}, {}};
  for (int i = 0; i < layout.shape.rank(); ++i) {
    arguments.shape[i] = cuda::Divisor(static_cast<unsigned>(layout.shape[i]));
    arguments.from_strides[i] = layout.from[i];
    arguments.to_strides[i] = layout.to[i];
  }
  add_elementwise(launches, kernel, arguments.count, arguments);
}

}  // namespace

void cuda_strided_copy(cuda::Launches& launches, size_t item, const Shape& shape, const void* from,
                       const Shape& from_strides, void* to, const Shape& to_strides) {
  if (shape.count() == 0) return;
  StridedLayout layout = merged_layout(shape, from_strides, to_strides);
  if (widen(item, from, to, layout))
    return add_strided_copy_cuda<Words4>(launches, "strided_copy_16", layout, from, to);
  switch (item) {
    case 1: return add_strided_copy_cuda<unsigned char>(launches, "strided_copy_1", layout, from, to);
    case 2: return add_strided_copy_cuda<unsigned short>(launches, "strided_copy_2", layout, from, to);
    case 4: return add_strided_copy_cuda<unsigned>(launches, "strided_copy_4", layout, from, to);
    case 8: return add_strided_copy_cuda<unsigned long long>(launches, "strided_copy_8", layout, from, to);
  }
  ensure(false, "elements have 1, 2, 4 or 8 bytes");
}

}  // namespace retrace
