#include "retrace/ops/max_pool2d/max_pool2d.h"

#include "retrace/ops/max_pool2d/max_pool2d_cuda.h"
#include "retrace/ops/max_pool2d/max_pool2d_kernel.h"

namespace retrace {

// An element of the gradient on a CUDA device (CudaElement).
std::string cuda_element_max_pool2d_gradient(const InferCall& call, std::span<const std::string> arrays);

namespace {

constexpr int64_t kMostU8 = 256;  // window elements whose numbers fit a byte

DType index_type(const Attributes& attributes) {
  return attributes.list("pool").count() <= kMostU8 ? DType::u8 : DType::i32;
}

// body(the index array as what it is).
template <class Body>
void with_index(const void* index, DType type, Body body) {
  if (type == DType::u8)
    body(static_cast<const uint8_t*>(index));
  else
    body(static_cast<const int32_t*>(index));
}

void check_index_max_pool2d(const InferCall& call, const Shape& expected) {
  check_type(call, 1, "index", index_type(call.attributes));
  if (call.inputs[1].shape == expected) return;
  op_error(call, 159, "the index does not belong to this window", "index " + call.inputs[1].text(),
           "the shape " + expected.text());
}

std::vector<TensorSpec> infer_max_pool2d(const InferCall& call) {
  const auto y = infer_pooled(call, "x");
  return {y, {index_type(call.attributes), y.shape, y.labels, y.part}};
}

std::vector<TensorSpec> infer_gradient_max_pool2d(const InferCall& call) {
  check_index_max_pool2d(call, call.inputs[0].shape);
  return {infer_unpooled(call, "dy")};
}

std::vector<TensorSpec> infer_gather_max_pool2d(const InferCall& call) {
  const auto y = infer_pooled(call, "x");
  check_index_max_pool2d(call, y.shape);
  return {y};
}

// The element of x to which output element (n, oy, ox, c) with that index belongs.
int64_t source_of(const PoolShape& s, int64_t n, int64_t oy, int64_t ox, int64_t c, int64_t index) {
  const Window& w = s.window;
  const int64_t iy = oy * w.stride_y + index / w.width - w.top, ix = ox * w.stride_x + index % w.width - w.left;
  return ((n * w.in_height + iy) * w.in_width + ix) * s.channels + c;
}

// body(n, oy, ox, c, output element), ascending.
template <class Body>
void for_each_output_max_pool2d(const PoolShape& s, Body body) {
  const int64_t height = s.window.out_height(), width = s.window.out_width();
  int64_t element = 0;
  for (int64_t n = 0; n < s.batch; ++n)
    for (int64_t oy = 0; oy < height; ++oy)
      for (int64_t ox = 0; ox < width; ++ox)
        for (int64_t c = 0; c < s.channels; ++c) body(n, oy, ox, c, element++);
}

template <class Index>
void forward_double_max_pool2d(const PoolShape& s, const double* x, double* y, Index* index) {
  const Window& w = s.window;
  for_each_output_max_pool2d(s, [&](int64_t n, int64_t oy, int64_t ox, int64_t c, int64_t element) {
    bool first = true;
    for (int64_t k = 0; k < w.height * w.width; ++k) {
      const int64_t iy = oy * w.stride_y + k / w.width - w.top, ix = ox * w.stride_x + k % w.width - w.left;
      if (iy < 0 || iy >= w.in_height || ix < 0 || ix >= w.in_width) continue;
      const double next = x[source_of(s, n, oy, ox, c, k)];
      if (!first && !(next > y[element]) && !(next != next && y[element] == y[element])) continue;
      y[element] = next, index[element] = static_cast<Index>(k), first = false;
    }
  });
}

void run_max_pool2d(const KernelCall& call) {
  const auto shape = pool_shape(call.attributes, call.inputs[0].spec->shape);
  const auto& x = call.inputs[0];
  const auto go = [&](auto* slots) {
    if (x.spec->type == DType::f64)
      forward_double_max_pool2d(shape, static_cast<const double*>(x.data), static_cast<double*>(call.outputs[0].data),
                                slots);
    else
      max_pool2d_forward(shape, static_cast<const float*>(x.data), static_cast<float*>(call.outputs[0].data), slots);
  };
  if (call.outputs[1].spec->type == DType::u8)
    go(static_cast<uint8_t*>(call.outputs[1].data));
  else
    go(static_cast<int32_t*>(call.outputs[1].data));
}

void run_gradient_max_pool2d(const KernelCall& call) {
  const auto shape = pool_shape(call.attributes, call.outputs[0].spec->shape);
  with_index(call.inputs[1].data, call.inputs[1].spec->type, [&](const auto* index) {
    if (call.inputs[0].spec->type == DType::f32)
      return max_pool2d_backward(shape, static_cast<const float*>(call.inputs[0].data), index,
                                 static_cast<float*>(call.outputs[0].data), call.done);
    const auto* dy = static_cast<const double*>(call.inputs[0].data);
    auto* dx = static_cast<double*>(call.outputs[0].data);
    std::fill_n(dx, shape.inputs(), 0.0);
    for_each_output_max_pool2d(shape, [&](int64_t n, int64_t oy, int64_t ox, int64_t c, int64_t element) {
      dx[source_of(shape, n, oy, ox, c, index[element])] += dy[element];
    });
  });
}

template <class T>
void gather(const PoolShape& shape, const KernelCall& call) {
  const auto* x = static_cast<const T*>(call.inputs[0].data);
  auto* y = static_cast<T*>(call.outputs[0].data);
  with_index(call.inputs[1].data, call.inputs[1].spec->type, [&](const auto* index) {
    for_each_output_max_pool2d(shape, [&](int64_t n, int64_t oy, int64_t ox, int64_t c, int64_t element) {
      y[element] = x[source_of(shape, n, oy, ox, c, index[element])];
    });
  });
}

void run_gather_max_pool2d(const KernelCall& call) {
  const auto shape = pool_shape(call.attributes, call.inputs[0].spec->shape);
  if (call.inputs[0].spec->type == DType::f32)
    gather<float>(shape, call);
  else
    gather<double>(shape, call);
}

Attributes window_attributes_max_pool2d(const Attributes& from) {
  return {{"pool", from.list("pool")}, {"stride", from.list("stride")}, {"padding", from.list("padding")}};
}

Tensor unpool(const Tensor& dy, const Tensor& index, const Attributes& window, const Shape& image, Place place) {
  static const Op& op = find_op("max_pool2d_gradient");
  Attributes attributes = window_attributes_max_pool2d(window);
  attributes.add("size", Shape{image[1], image[2]});
  return record_one(op, std::move(attributes), {dy, index}, place);
}

// The two linear maps between an image and its pooled elements, once the index is fixed: each is the other's gradient.
std::vector<Tensor> gradient_max_pool2d(const GradientCall& call) {
  return {unpool(call.cotangents[0], call.outputs[1], call.attributes, call.inputs[0].shape(), call.place)};
}
std::vector<Tensor> gradient_of_gather(const GradientCall& call) {
  return {unpool(call.cotangents[0], call.inputs[1], call.attributes, call.inputs[0].shape(), call.place), Tensor()};
}
std::vector<Tensor> gradient_of_gradient_max_pool2d(const GradientCall& call) {
  static const Op& op = find_op("max_pool2d_gather");
  return {
      record_one(op, window_attributes_max_pool2d(call.attributes), {call.cotangents[0], call.inputs[1]}, call.place),
      Tensor()};
}

}  // namespace

Tensor max_pool2d(const Tensor& x, Pair pool, const MaxPool2dOptions& options, Place place) {
  static const Op& op = find_op("max_pool2d");
  check_defined(op.name, x, place);
  return record_one(op, pool_attributes(x, pool, options.stride.of(pool), options.padding), {x}, place);
}

Tensor global_max_pool2d(const Tensor& x, Place place) {
  const Pair whole = x.rank(place) == 4 ? Pair(x.shape()[1], x.shape()[2]) : Pair(1);  // else the op's own check speaks
  return max_pool2d(x, whole, {.stride = 1}, place);
}

void define_max_pool2d(OpTable& table) {
  table.add({.name = "max_pool2d",
             .attributes = {"pool", "stride", "padding"},
             .infer = infer_max_pool2d,
             .gradient = gradient_max_pool2d,
             .kernel = run_max_pool2d,
             .cuda = cuda_max_pool2d,
             .cut = 0b1});
  table.add({.name = "max_pool2d_gradient",
             .inputs = 2,
             .attributes = {"pool", "stride", "padding", "size"},
             .infer = infer_gradient_max_pool2d,
             .gradient = gradient_of_gradient_max_pool2d,
             .kernel = run_gradient_max_pool2d,
             .cuda = cuda_max_pool2d_gradient,
             .cuda_element = {"retrace/ops/max_pool2d/max_pool2d_element_cuda.h", cuda_element_max_pool2d_gradient},
             .takes_epilogue = true,
             .cut = 0b11,
             .unpools = "max_pool2d"});
  table.add({.name = "max_pool2d_gather",
             .inputs = 2,
             .attributes = {"pool", "stride", "padding"},
             .infer = infer_gather_max_pool2d,
             .gradient = gradient_of_gather,
             .kernel = run_gather_max_pool2d,
             .cuda = cuda_max_pool2d_gather,
             .cut = 0b11});
}

}  // namespace retrace
