#include "retrace/ops/max/find_maximum.h"

#include <algorithm>

#include "retrace/device/cpu/threads.h"

namespace retrace {

extern const KernelTable<void (*)(const float*, const float*, int64_t, int64_t, int32_t*)> find_column_maxima_table;
extern const KernelTable<int32_t (*)(const float*, int64_t)> find_row_maximum_table;

namespace {

constexpr int64_t kPieceElements = 16384;

template <class T>
void plain_search(const KernelInput& x, const Shape& axes, std::vector<int32_t>& found) {
  const T* values = static_cast<const T*>(x.data);
  std::vector<T> best(found.size());
  for_each_reduced(x.spec->shape, axes, [&](int64_t i, int64_t kept, int64_t reduced) {
    const auto k = static_cast<size_t>(kept);
    const T v = values[i], old = best[k];
    if (reduced > 0 && !(v > old || (v != v && old == old))) return;
    best[k] = v;
    found[k] = static_cast<int32_t>(reduced);
  });
}

void vector_search(const KernelInput& input, const ReduceShape& shape, std::vector<int32_t>& found) {
  const float* x = static_cast<const float*>(input.data);
  const float* end = x + input.spec->count();
  const int64_t batch = std::max<int64_t>(1, kPieceElements / std::max<int64_t>(1, shape.positions * shape.channels));
  const auto column = find_column_maxima_table.get();
  const auto row = find_row_maximum_table.get();
  run_pieces((shape.outer + batch - 1) / batch, [&](int64_t piece) {
    for (int64_t o = piece * batch; o < std::min(shape.outer, (piece + 1) * batch); ++o) {
      const float* from = x + shape.outer_offset(o);
      if (shape.by_column)
        column(from, end, shape.positions, shape.channels, found.data() + o * shape.channels);
      else
        found[static_cast<size_t>(o)] = row(from, shape.positions);
    }
  });
}

}  // namespace

std::vector<int32_t> find_maxima(const KernelInput& x, const Shape& axes) {
  const ReduceShape shape(x.spec->shape, axes);
  std::vector<int32_t> found(static_cast<size_t>(shape.outer * shape.channels));
  if (found.empty()) return found;
  switch (x.spec->type) {
    case DType::f32:
      if (shape.contiguous_positions())
        vector_search(x, shape, found);
      else
        plain_search<float>(x, axes, found);
      break;
    case DType::f64: plain_search<double>(x, axes, found); break;
    case DType::i32: plain_search<int32_t>(x, axes, found); break;
    case DType::u8:
    case DType::boolean: plain_search<uint8_t>(x, axes, found); break;
  }
  return found;
}

void check_search(const InferCall& call) {
  const auto& x = call.inputs[0];
  const int64_t count = reduced_count(x.shape, call.attributes.list("axes"));
  if (count < 1)
    op_error(call, 138, "there is no largest of no elements", x.text(), "at least one element along the reduced axes");
  if (count > INT32_MAX)
    op_error(call, 144, fmt::format("{} elements are too many to number", count), x.text(), "fewer than 2^31");
}

void check_smallest(const Tensor& x, const Shape& axes, std::string_view function, Place place) {
  if (reduced_count(x.shape(), axes) < 1)
    throw Error(ErrorKind::usage, 138, fmt::format("{}: there is no smallest of no elements", function))
        .where(place)
        .got(x.spec().text())
        .expected("at least one element along the reduced axes");
}

}  // namespace retrace
