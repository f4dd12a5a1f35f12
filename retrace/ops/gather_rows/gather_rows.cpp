#include "retrace/ops/gather_rows/gather_rows.h"

#include <algorithm>

#include "retrace/base/copy_bytes.h"
#include "retrace/device/cpu/threads.h"
#include "retrace/ops/check_index.h"
#include "retrace/ops/gather_rows/gather_rows_cuda.h"
#include "retrace/ops/gather_rows/scatter_rows_kernel.h"
#include "retrace/ops/op.h"
#include "retrace/ops/reshape/reshape.h"

namespace retrace {
namespace {

constexpr int64_t kPieceBytes = 1 << 17;
constexpr IndexNames kGatherRowsGathered{
    "gather_rows", "row", "rows are counted from 0; the vocabulary of an embedding is above its largest class number"};
constexpr IndexNames kScattered{
    "scatter_rows", "row", "rows are counted from 0; the vocabulary of an embedding is above its largest class number"};

std::vector<TensorSpec> infer_gather_gather_rows(const InferCall& call) {
  const auto &table = call.inputs[0], &index = call.inputs[1];
  check_type(call, 1, "the index", DType::i32);
  if (table.shape.rank() == 0)
    op_error(call, 133, "the table has no axes", "table " + table.text(), "1 axis or more, the first counting rows");
  TensorSpec y{table.type, index.shape, with_new_axes(index.labels, table.shape.rank() - 1), index.part};
  for (int i = 1; i < table.shape.rank(); ++i) y.shape.push_back(table.shape[i]);
  return {y};
}

std::vector<TensorSpec> infer_scatter(const InferCall& call) {
  const auto &x = call.inputs[0], &index = call.inputs[1];
  const int64_t rows = call.attributes.integer("rows");
  check_float(call, 0, "x");
  check_type(call, 1, "the index", DType::i32);
  const int axes = index.shape.rank();
  if (x.shape.rank() < axes || !std::equal(index.shape.begin(), index.shape.end(), x.shape.begin()))
    op_error(call, 179, "the first axes of x are not those of the index",
             fmt::format("x {} and the index {}", x.text(), index.text()),
             fmt::format("x of shape {} and the axes of a row", index.shape.text()));
  if (rows < 0) op_error(call, 102, fmt::format("a table has {} rows", rows), "x " + x.text(), "0 rows or more");
  TensorSpec y{x.type, {rows}, {}, {}};
  for (int i = axes; i < x.shape.rank(); ++i) y.shape.push_back(x.shape[i]);
  return {y};
}

void run_gather_gather_rows(const KernelCall& call) {
  const auto& table = *call.inputs[0].spec;
  const int64_t count = call.inputs[1].spec->count();
  check_indices(kGatherRowsGathered, call.inputs[1], table.shape[0]);
  const size_t row = static_cast<size_t>(table.shape.count(1, table.shape.rank())) * size_of(table.type);
  if (row == 0 || count == 0) return;
  const auto* index = static_cast<const int32_t*>(call.inputs[1].data);
  const auto* from = static_cast<const char*>(call.inputs[0].data);
  auto* to = static_cast<char*>(call.outputs[0].data);
  const int64_t pieces = std::clamp<int64_t>(count * static_cast<int64_t>(row) / kPieceBytes, 1, count);
  run_pieces(pieces, [&](int64_t piece) {
    for (int64_t i = count * piece / pieces; i < count * (piece + 1) / pieces; ++i)
      copy_bytes(to + static_cast<size_t>(i) * row, from + static_cast<size_t>(index[i]) * row, row);
  });
}

void run_scatter(const KernelCall& call) {
  const auto &x = *call.inputs[0].spec, &y = *call.outputs[0].spec;
  const int64_t count = call.inputs[1].spec->count(), rows = y.shape[0], width = y.shape.count(1, y.shape.rank());
  check_indices(kScattered, call.inputs[1], rows);
  const auto* index = static_cast<const int32_t*>(call.inputs[1].data);
  if (x.type == DType::f32) {
    scatter_rows_f32(static_cast<const float*>(call.inputs[0].data), index, count, rows, width,
                     static_cast<int64_t*>(call.workspace), static_cast<float*>(call.outputs[0].data));
    return;
  }
  const auto* from = static_cast<const double*>(call.inputs[0].data);
  auto* to = static_cast<double*>(call.outputs[0].data);
  std::fill_n(to, rows * width, 0.0);
  for (int64_t i = 0; i < count; ++i)
    for (int64_t k = 0; k < width; ++k) to[index[i] * width + k] += from[i * width + k];
}

int64_t workspace_gather_rows(const InferCall& call) {
  return scatter_rows_workspace(call.inputs[1].count(), call.attributes.integer("rows"));
}

Error gather_error(const ValueErrorCall& call) {
  return index_error(kGatherRowsGathered, call.inputs[1], call.inputs[0].shape[0], call.position, call.value);
}

Error scatter_error(const ValueErrorCall& call) {
  return index_error(kScattered, call.inputs[1], call.attributes.integer("rows"), call.position, call.value);
}

std::vector<Tensor> gradient_gather(const GradientCall& call) {
  const auto& table = call.inputs[0];
  if (!is_float(table.type()) || !call.needed[0]) return {Tensor(), Tensor()};
  const Tensor dy = scatter_rows(call.cotangents[0], call.inputs[1], table.shape()[0], call.place);
  return {reshape(dy, table.shape(), table.labels(), call.place), Tensor()};
}

std::vector<Tensor> gradient_scatter(const GradientCall& call) {
  const auto& x = call.inputs[0];
  if (!call.needed[0]) return {Tensor(), Tensor()};
  return {reshape(gather_rows(call.cotangents[0], call.inputs[1], call.place), x.shape(), x.labels(), call.place),
          Tensor()};
}

}  // namespace

Tensor gather_rows(const Tensor& table, const Tensor& index, Place place) {
  static const Op& op = find_op("gather_rows");
  return record_one(op, {}, {table, index}, place);
}

Tensor scatter_rows(const Tensor& x, const Tensor& index, int64_t rows, Place place) {
  static const Op& op = find_op("scatter_rows");
  return record_one(op, {{"rows", rows}}, {x, index}, place);
}

void define_gather_rows(OpTable& table) {
  table.add({.name = "gather_rows",
             .inputs = 2,
             .infer = infer_gather_gather_rows,
             .gradient = gradient_gather,
             .kernel = run_gather_gather_rows,
             .cuda = cuda_gather_rows,
             .value_error = gather_error,
             .any_type = true,
             .indices = 2});
  table.add({.name = "scatter_rows",
             .inputs = 2,
             .attributes = {"rows"},
             .infer = infer_scatter,
             .gradient = gradient_scatter,
             .kernel = run_scatter,
             .workspace = workspace_gather_rows,
             .cuda = cuda_scatter_rows,
             .value_error = scatter_error,
             .indices = 2});
}

}  // namespace retrace
