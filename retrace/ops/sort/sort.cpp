#include "retrace/ops/sort/sort.h"

#include "retrace/ops/op.h"
#include "retrace/ops/sort/sort_cuda.h"
#include "retrace/ops/sort/sort_kernel.h"
#include "retrace/ops/take_along_axis/take_along_axis.h"

namespace retrace {
namespace {

// There are that many elements along the axis to take.
void check_count_sort(const TensorSpec& x, int axis, int64_t count, std::string_view function, Place place) {
  const int64_t size = x.shape[axis];
  if (count >= 0 && count <= size) return;
  throw Error(ErrorKind::usage, 247,
              fmt::format("{}: {} elements are asked of axis {}, which has {}", function, count, axis, size))
      .where(place)
      .got("x " + x.text())
      .expected(fmt::format("0 to {}", size));
}

std::vector<TensorSpec> infer_sort(const InferCall& call) {
  const TensorSpec& x = call.inputs[0];
  check_axis(call, call.attributes.integer("axis"), x.shape.rank());
  const auto axis = static_cast<int>(call.attributes.integer("axis"));
  if (x.shape[axis] >= int64_t{1} << 31)
    op_error(call, 144, fmt::format("{} elements are too many to number", x.shape[axis]), x.text(), "fewer than 2^31");
  check_count_sort(x, axis, call.attributes.integer("count"), "argsort", call.place);
  TensorSpec y = x;
  y.type = DType::i32, y.shape[axis] = call.attributes.integer("count");
  if (axis == 0) y.part = {};
  return {y};
}

Tensor indices(const Tensor& x, int axis, int64_t count, bool descending, bool nan_first, Place place) {
  static const Op& op = find_op("argsort");
  return record_one(op,
                    {{"axis", int64_t{axis}},
                     {"count", count},
                     {"descending", int64_t{descending}},
                     {"nan_first", int64_t{nan_first}}},
                    {x}, place);
}

}  // namespace

Tensor argsort(const Tensor& x, const Axes& axis, const SortOptions& options, Place place) {
  const int along = axis.one_of(x.spec(place), "argsort", place);
  return indices(x, along, x.shape()[along], options.descending, false, place);
}

Sorted sort(const Tensor& x, const Axes& axis, const SortOptions& options, Place place) {
  const int along = axis.one_of(x.spec(place), "sort", place);
  const Tensor order = indices(x, along, x.shape()[along], options.descending, false, place);
  return {take_along_axis(x, along, order, place), order};
}

Sorted top_k(const Tensor& x, int64_t k, const Axes& axis, Place place) {
  const int along = axis.one_of(x.spec(place), "top_k", place);
  check_count_sort(x.spec(), along, k, "top_k", place);
  const Tensor order = indices(x, along, k, true, true, place);
  return {take_along_axis(x, along, order, place), order};
}

void define_sort(OpTable& table) {
  // No gradient: indices are steps. That of the values is take_along_axis's.
  table.add({.name = "argsort",
             .attributes = {"axis", "count", "descending", "nan_first"},
             .infer = infer_sort,
             .kernel = run_argsort,
             .workspace = argsort_workspace,
             .cuda = cuda_argsort});
}

}  // namespace retrace
