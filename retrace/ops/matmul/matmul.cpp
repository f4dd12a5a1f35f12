#include "retrace/ops/matmul/matmul.h"

#include <algorithm>

#include "retrace/ops/broadcast/broadcast.h"
#include "retrace/ops/matmul/matmul_kernel.h"
#include "retrace/ops/op.h"
#include "retrace/ops/pointwise.h"
#include "retrace/ops/reshape/reshape.h"

namespace retrace {

void cuda_matmul(const MatmulShape& shape, const CudaCall& call);
int64_t cuda_matmul_workspace(const MatmulShape& shape);

namespace {

MatmulOptions options_of(const Attributes& attributes) {
  return {attributes.integer("transpose_a") != 0, attributes.integer("transpose_b") != 0};
}

// The shape of a product of two factors of one rank, 2 or 3, that were checked.
MatmulShape shape_of_matmul(const Shape& a, const Shape& b, MatmulOptions options) {
  const int last = a.rank() - 1;
  MatmulShape shape;
  shape.transpose_a = options.transpose_a, shape.transpose_b = options.transpose_b;
  shape.rows = a[options.transpose_a ? last : last - 1];
  shape.depth = a[options.transpose_a ? last - 1 : last];
  shape.columns = b[options.transpose_b ? last - 1 : last];
  if (last == 1) return shape;
  shape.count = a[0] == 1 ? b[0] : a[0];
  shape.stride_a = a[0] == 1 ? 0 : a[1] * a[2];
  shape.stride_b = b[0] == 1 ? 0 : b[1] * b[2];
  return shape;
}

std::string matrix_text(const char* name, const TensorSpec& spec, bool transposed) {
  return fmt::format("{} {}{}", name, spec.text(), transposed ? " (transposed)" : "");
}

[[noreturn]] void refuse_matmul(const InferCall& call, const std::string& message, const std::string& expected) {
  const auto options = options_of(call.attributes);
  op_error(call, 160, message,
           matrix_text("a", call.inputs[0], options.transpose_a) + ", " +
               matrix_text("b", call.inputs[1], options.transpose_b),
           expected);
}

std::vector<TensorSpec> infer_matmul(const InferCall& call) {
  check_float(call, 0, "a");
  check_same_type(call, 1, "b");
  const auto &a = call.inputs[0], &b = call.inputs[1];
  const int rank = a.shape.rank();
  if (rank != b.shape.rank() || rank < 2 || rank > 3)
    refuse_matmul(call, fmt::format("a has {} axes, b has {}", rank, b.shape.rank()),
                  "two matrices, or stacks of them");
  const auto options = options_of(call.attributes);
  const MatmulShape shape = shape_of_matmul(a.shape, b.shape, options);
  const int64_t depth_b = b.shape[options.transpose_b ? rank - 1 : rank - 2];
  if (shape.depth != depth_b)
    refuse_matmul(call, fmt::format("a has {} columns, b has {} rows", shape.depth, depth_b),
                  "columns of a = rows of b");
  if (rank == 3 && a.shape[0] != b.shape[0] && a.shape[0] != 1 && b.shape[0] != 1)
    refuse_matmul(call, fmt::format("{} matrices meet {}", a.shape[0], b.shape[0]), "equal first axes, or 1");
  TensorSpec y{a.type, {shape.rows, shape.columns}, {}, {}};
  if (rank == 3) y.shape = {shape.count, shape.rows, shape.columns};
  if (b.labels.empty() && !options.transpose_a && (rank == 2 || a.shape[0] == shape.count))
    y.labels = a.labels, y.part = a.part;
  return {y};
}

void run_double(const MatmulShape& s, const double* a, const double* b, double* y) {
  const int64_t row_a = s.transpose_a ? 1 : s.depth, depth_a = s.transpose_a ? s.rows : 1;
  const int64_t column_b = s.transpose_b ? s.depth : 1, depth_b = s.transpose_b ? 1 : s.columns;
  for (int64_t n = 0; n < s.count; ++n)
    for (int64_t r = 0; r < s.rows; ++r)
      for (int64_t c = 0; c < s.columns; ++c) {
        double sum = 0;
        for (int64_t k = 0; k < s.depth; ++k)
          sum += a[n * s.stride_a + r * row_a + k * depth_a] * b[n * s.stride_b + c * column_b + k * depth_b];
        *y++ = sum;
      }
}

void run_matmul(const KernelCall& call) {
  const auto& out = *call.outputs[0].spec;
  const MatmulShape shape =
      shape_of_matmul(call.inputs[0].spec->shape, call.inputs[1].spec->shape, options_of(call.attributes));
  if (out.count() == 0) return;
  if (out.type == DType::f64)
    return run_double(shape, static_cast<const double*>(call.inputs[0].data),
                      static_cast<const double*>(call.inputs[1].data), static_cast<double*>(call.outputs[0].data));
  auto* y = static_cast<float*>(call.outputs[0].data);
  if (shape.depth == 0) {  // the sum over nothing
    std::fill_n(y, out.count(), 0.0f);
    if (call.done) (*call.done)(0, out.count());
    return;
  }
  const auto *a = static_cast<const float*>(call.inputs[0].data), *b = static_cast<const float*>(call.inputs[1].data);
  if (!call.done) return matmul(shape, a, b, y, call.workspace, nullptr, call.kept);
  FunctionRef<void(int64_t, int64_t)> done = *call.done;
  matmul(shape, a, b, y, call.workspace, &done, call.kept);
}

int64_t workspace_matmul(const InferCall& call) {
  const MatmulShape shape = shape_of_matmul(call.inputs[0].shape, call.inputs[1].shape, options_of(call.attributes));
  if (call.inputs[0].type != DType::f32 || shape.count * shape.rows * shape.columns * shape.depth == 0) return 0;
  return matmul_workspace(shape);
}

int64_t kept_matmul(const InferCall& call) {
  const MatmulShape shape = shape_of_matmul(call.inputs[0].shape, call.inputs[1].shape, options_of(call.attributes));
  return call.inputs[0].type == DType::f32 ? matmul_kept(shape) : 0;
}

void run_cuda(const CudaCall& call) {
  cuda_matmul(shape_of_matmul(call.inputs[0].spec->shape, call.inputs[1].spec->shape, options_of(call.attributes)),
              call);
}

int64_t cuda_workspace(const InferCall& call) {
  return cuda_matmul_workspace(
      shape_of_matmul(call.inputs[0].shape, call.inputs[1].shape, options_of(call.attributes)));
}

// With A = op(a), B = op(b): dA = dy B^T, dB = A^T dy, transposed back where op transposes.
std::vector<Tensor> gradient_matmul(const GradientCall& call) {
  const auto &a = call.inputs[0], &b = call.inputs[1], &dy = call.cotangents[0];
  const auto [ta, tb] = options_of(call.attributes);
  Tensor da, db;
  if (call.needed[0])
    da = ta ? matmul(b, dy, {.transpose_a = tb, .transpose_b = true}, call.place)
            : matmul(dy, b, {.transpose_b = !tb}, call.place);
  if (call.needed[1])
    db = tb ? matmul(dy, a, {.transpose_a = true, .transpose_b = ta}, call.place)
            : matmul(a, dy, {.transpose_a = !ta}, call.place);
  return {da.defined() ? sum_to(da, a, call.place) : da, db.defined() ? sum_to(db, b, call.place) : db};
}

Tensor with_leading_axis(const Tensor& x, Place place) {
  return x.rank() == 2 ? reshape(x, {1, x.shape()[0], x.shape()[1]}, "", place) : x;
}

[[noreturn]] void refuse_matmul(const Tensor& a, const Tensor& b, MatmulOptions options, const std::string& message,
                                const char* expected, Place place) {
  throw Error(ErrorKind::usage, 160, "matmul: " + message)
      .where(place)
      .got(matrix_text("a", a.spec(), options.transpose_a) + ", " + matrix_text("b", b.spec(), options.transpose_b))
      .expected(expected);
}

// Of the product of factors with more axes than a stack: their leading ones, aligned from the last of them.
Shape leading_axes(const Tensor& a, const Tensor& b, MatmulOptions options, Place place) {
  const int rank = std::max(a.rank(), b.rank());
  Shape all;
  for (int axis = 0; axis < rank - 2; ++axis) {
    const auto size = [&](const Tensor& x) {
      const int own = axis - (rank - x.rank());
      return own < 0 ? int64_t{1} : x.shape()[own];
    };
    const int64_t of_a = size(a), of_b = size(b);
    if (of_a != of_b && of_a != 1 && of_b != 1)
      refuse_matmul(a, b, options, fmt::format("{} matrices meet {}", of_a, of_b), "equal leading axes, or 1", place);
    all.push_back(of_a == 1 ? of_b : of_a);
  }
  return all;
}

// x with one axis in front, for all the leading ones: as long as these, or 1.
Tensor stack_of(const Tensor& x, const Shape& leading, Place place) {
  const int rank = x.rank();
  const int64_t rows = x.shape()[rank - 2], columns = x.shape()[rank - 1], own = x.shape().count(0, rank - 2);
  if (own == leading.count() || own == 1) return reshape(x, {own, rows, columns}, "", place);
  Shape whole = leading;
  whole.push_back(rows), whole.push_back(columns);
  return reshape(broadcast(x, whole, "", place), {leading.count(), rows, columns}, "", place);
}

Tensor product_of_any_rank(const Tensor& a, const Tensor& b, MatmulOptions options, Place place) {
  const Shape leading = leading_axes(a, b, options, place);
  const int64_t columns = a.shape()[a.rank() - (options.transpose_a ? 2 : 1)];
  const int64_t rows = b.shape()[b.rank() - (options.transpose_b ? 1 : 2)];
  if (columns != rows)
    refuse_matmul(a, b, options, fmt::format("a has {} columns, b has {} rows", columns, rows),
                  "columns of a = rows of b", place);
  const Tensor y = matmul(stack_of(a, leading, place), stack_of(b, leading, place), options, place);
  Shape shape = leading;
  shape.push_back(y.shape()[1]), shape.push_back(y.shape()[2]);
  const bool labelled = b.labels().empty() && !options.transpose_a && a.rank() == shape.rank() &&
                        std::equal(leading.begin(), leading.end(), a.shape().begin());
  return reshape(y, shape, labelled ? a.labels() : "", place);
}

MatrixProduct matrix_product(const Attributes& attributes) {
  return {attributes.integer("transpose_a") != 0, attributes.integer("transpose_b") != 0};
}

}  // namespace

Tensor matmul(const Tensor& a, const Tensor& b, MatmulOptions options, Place place) {
  static const Op& op = find_op("matmul");
  const Attributes attributes{{"transpose_a", int64_t{options.transpose_a}},
                              {"transpose_b", int64_t{options.transpose_b}}};
  const int most = std::max(a.rank(place), b.rank(place)), least = std::min(a.rank(), b.rank());
  if (most > 3 && least >= 2) return product_of_any_rank(a, b, options, place);
  const bool stacked = most == 3;
  if (!stacked) return record_one(op, attributes, {a, b}, place);
  return record_one(op, attributes, {with_leading_axis(a, place), with_leading_axis(b, place)}, place);
}

void define_matmul(OpTable& table) {
  table.add({.name = "matmul",
             .inputs = 2,
             .attributes = {"transpose_a", "transpose_b"},
             .infer = infer_matmul,
             .gradient = gradient_matmul,
             .kernel = run_matmul,
             .workspace = workspace_matmul,
             .kept = kept_matmul,
             .cuda = run_cuda,
             .cuda_workspace = cuda_workspace,
             .takes_epilogue = true,
             .contraction = true,
             .matrix_product = matrix_product});
}

}  // namespace retrace
