#include "retrace/ops/softmax/softmax.h"

#include <algorithm>

#include "retrace/base/double_math.h"
#include "retrace/device/cpu/threads.h"
#include "retrace/ops/op.h"
#include "retrace/ops/operators.h"
#include "retrace/ops/softmax/softmax_axis.h"
#include "retrace/ops/sum/sum.h"

namespace retrace {

extern const KernelTable<void (*)(const float* x, float* y, int64_t rows, int64_t count)> softmax_rows_table;
extern const KernelTable<void (*)(const float* x, float* y, int64_t count, int64_t step, int columns)>
    softmax_columns_table;
void cuda_softmax(const CudaCall& call);

namespace {

constexpr int64_t kSoftmaxPieceElements = 4096;

std::vector<TensorSpec> infer_softmax(const InferCall& call) {
  check_float(call, 0, "x");
  check_axis(call, call.attributes.integer("axis"), call.inputs[0].shape.rank());
  return {call.inputs[0]};
}

std::vector<Tensor> gradient_softmax(const GradientCall& call) {
  const Tensor &y = call.outputs[0], &dy = call.cotangents[0];
  return {y * (dy - sum(dy * y, call.attributes.integer("axis"), {.keep = true}, call.place))};
}

// Elements of one softmax: count of them, `step` apart.
struct Rows {
  explicit Rows(const KernelCall& call) {
    const Shape& shape = call.inputs[0].spec->shape;
    const int axis = static_cast<int>(call.attributes.integer("axis"));
    count = shape[axis];
    step = shape.count(axis + 1, shape.rank());
    rows = shape.count(0, axis) * step;
  }
  int64_t begin(int64_t row) const { return row / step * count * step + row % step; }
  int64_t count, step, rows;
};

void plain_softmax(const KernelCall& call) {
  const Rows rows(call);
  for (int64_t row = 0; row < rows.rows && rows.count > 0; ++row) {
    const double* x = static_cast<const double*>(call.inputs[0].data) + rows.begin(row);
    double* y = static_cast<double*>(call.outputs[0].data) + rows.begin(row);
    double most = x[0], total = 0;
    for (int64_t i = 0; i < rows.count; ++i) most = std::max(most, x[i * rows.step]);
    for (int64_t i = 0; i < rows.count; ++i) total += y[i * rows.step] = double_math::exp(x[i * rows.step] - most);
    for (int64_t i = 0; i < rows.count; ++i) {
      double& element = y[i * rows.step];
      element /= total;
      if (element < 0x1p-126) element = 0;
    }
  }
}

void strided_row(const float* x, float* y, const Rows& rows, void (*kernel)(const float*, float*, int64_t, int64_t)) {
  thread_local std::vector<float> row;
  row.resize(static_cast<size_t>(rows.count));
  for (int64_t i = 0; i < rows.count; ++i) row[static_cast<size_t>(i)] = x[i * rows.step];
  kernel(row.data(), row.data(), 1, rows.count);
  for (int64_t i = 0; i < rows.count; ++i) y[i * rows.step] = row[static_cast<size_t>(i)];
}

// Lines that lie side by side, 16 at a time.
void run_columns(const KernelCall& call, const Rows& rows) {
  constexpr int64_t kColumns = 16;
  const auto kernel = softmax_columns_table.get();
  const auto* const x = static_cast<const float*>(call.inputs[0].data);
  auto* const y = static_cast<float*>(call.outputs[0].data);
  const int64_t across = (rows.step + kColumns - 1) / kColumns, groups = rows.rows / rows.step * across;
  const int64_t batch = std::max<int64_t>(1, kSoftmaxPieceElements / (rows.count * kColumns));
  run_pieces((groups + batch - 1) / batch, [&](int64_t piece) {
    for (int64_t group = piece * batch; group < std::min(groups, (piece + 1) * batch); ++group) {
      const int64_t column = group % across * kColumns;
      const int64_t at = group / across * rows.count * rows.step + column;
      kernel(x + at, y + at, rows.count, rows.step, static_cast<int>(std::min(kColumns, rows.step - column)));
    }
  });
}

void run_softmax(const KernelCall& call) {
  constexpr int64_t kBlock = 256;  // of the row rule
  if (call.inputs[0].spec->type == DType::f64) return plain_softmax(call);
  const Rows rows(call);
  if (rows.step > 1 && rows.count > 0 && rows.count <= kBlock && rows.rows > 0) return run_columns(call, rows);
  const auto kernel = softmax_rows_table.get();
  const auto* const x = static_cast<const float*>(call.inputs[0].data);
  auto* const y = static_cast<float*>(call.outputs[0].data);
  const int64_t batch = std::max<int64_t>(1, kSoftmaxPieceElements / std::max<int64_t>(1, rows.count));
  run_pieces((rows.rows + batch - 1) / batch, [&](int64_t piece) {
    const int64_t first = piece * batch, end = std::min(rows.rows, first + batch);
    if (rows.step == 1) return kernel(x + rows.begin(first), y + rows.begin(first), end - first, rows.count);
    for (int64_t row = first; row < end; ++row) strided_row(x + rows.begin(row), y + rows.begin(row), rows, kernel);
  });
}

}  // namespace

int softmax_axis(const Tensor& x, const Axes& axis, const char* op, Place place) {
  const TensorSpec& spec = x.spec(place);
  if (!axis.empty()) return axis.one_of(spec, op, place);
  const int channel = spec.labels.find('C');
  return normalized_axis(channel >= 0 ? channel : -1, x.rank(), op, place);
}

Tensor softmax(const Tensor& x, const Axes& axis, Place place) {
  static const Op& op = find_op("softmax");
  return record_one(op, {{"axis", int64_t{softmax_axis(x, axis, "softmax", place)}}}, {x}, place);
}

void define_softmax(OpTable& table) {
  table.add({.name = "softmax",
             .attributes = {"axis"},
             .infer = infer_softmax,
             .gradient = gradient_softmax,
             .kernel = run_softmax,
             .cuda = cuda_softmax,
             .cuda_line = {"retrace/ops/softmax/softmax_line_cuda.h", "softmax_line"},
             .cut = 0b1});
}

}  // namespace retrace
