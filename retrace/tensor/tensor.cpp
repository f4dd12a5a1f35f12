#include "retrace/tensor/tensor.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <mutex>

#include "retrace/base/fp_environment.h"
#include "retrace/base/recycle.h"

namespace retrace {
namespace {

void check_sizes(size_t values, const Shape& shape, Place place) {
  for (int64_t size : shape)
    if (size < 0)
      throw Error(ErrorKind::usage, 102, fmt::format("a shape has the negative size {}", size)).where(place);
  if (values != static_cast<size_t>(shape.count()))
    throw Error(ErrorKind::usage, 103, fmt::format("{} values do not fill the shape {}", values, shape.text()))
        .where(place)
        .expected(fmt::format("{} values", shape.count()));
}

// Appends axes of size 1 for surplus labels.
Shape extended(const Shape& shape, const Labels& labels, Place place) {
  if (labels.empty() || labels.size() == shape.rank()) return shape;
  if (labels.size() < shape.rank())
    throw Error(ErrorKind::usage, 112,
                fmt::format("labels \"{}\" are fewer than the axes of {}", labels.text(), shape.text()))
        .where(place)
        .expected(fmt::format("{} labels", shape.rank()))
        .help("write U for an axis without a meaning of its own");
  Shape longer = shape;
  while (longer.rank() < labels.size()) longer.push_back(1);
  return longer;
}

void permute_bytes(const char* from, char* to, const Shape& shape, const Shape& permutation, size_t item) {
  const Shape strides = row_major_strides(shape);
  const int rank = shape.rank();
  Shape index = shape;
  for (int i = 0; i < rank; ++i) index[i] = 0;
  const int64_t count = shape.count();
  for (int64_t n = 0; n < count; ++n) {
    int64_t offset = 0;
    for (int i = 0; i < rank; ++i) offset += index[i] * strides[static_cast<int>(permutation[i])];
    std::memcpy(to + static_cast<size_t>(n) * item, from + static_cast<size_t>(offset) * item, item);
    for (int i = rank - 1; i >= 0 && ++index[i] == shape[static_cast<int>(permutation[i])]; --i) index[i] = 0;
  }
}

Tensor make(const void* bytes, const TensorSpec& spec) {
  auto buffer = cpu_device().allocate(spec.bytes());
  cpu_device().copy_from_host(*buffer, bytes, spec.bytes());
  return Tensor(new_tensor_value(spec, std::move(buffer)));
}

}  // namespace

std::shared_ptr<TensorValue> new_tensor_value(TensorSpec spec, std::shared_ptr<Buffer> buffer) {
  auto value = std::allocate_shared<TensorValue>(Recycled<TensorValue>());
  value->spec = std::move(spec), value->buffer = std::move(buffer);
  return value;
}

template <class T>
Tensor Tensor::from(std::span<const T> values, const Shape& shape, std::string_view labels, Place place) {
  check_sizes(values.size(), shape, place);
  const Labels given(labels);
  TensorSpec spec{dtype_of<T>(), extended(shape, given, place), given, {}};
  if (given.empty()) return make(values.data(), spec);
  const Shape permutation = canonical_permutation(given);
  std::vector<char> moved(spec.bytes());
  permute_bytes(reinterpret_cast<const char*>(values.data()), moved.data(), spec.shape, permutation, sizeof(T));
  const Shape before = spec.shape;
  for (int i = 0; i < before.rank(); ++i) spec.shape[i] = before[static_cast<int>(permutation[i])];
  spec.labels = permute(given, permutation);
  return make(moved.data(), spec);
}

template Tensor Tensor::from<float>(std::span<const float>, const Shape&, std::string_view, Place);
template Tensor Tensor::from<double>(std::span<const double>, const Shape&, std::string_view, Place);
template Tensor Tensor::from<int32_t>(std::span<const int32_t>, const Shape&, std::string_view, Place);
template Tensor Tensor::from<uint8_t>(std::span<const uint8_t>, const Shape&, std::string_view, Place);
template Tensor Tensor::from<bool>(std::span<const bool>, const Shape&, std::string_view, Place);

Tensor Tensor::from_bytes(const void* bytes, const TensorSpec& spec) { return make(bytes, spec); }

Tensor Tensor::full(const Shape& shape, double value, DType type, std::string_view labels) {
  const FloatingPointScope floating_point;  // the rounding to `type`
  const auto fill = [&](auto example) {
    using T = decltype(example);
    const auto buffer = std::make_unique<T[]>(static_cast<size_t>(shape.count()));
    std::fill_n(buffer.get(), shape.count(), static_cast<T>(value));
    return from(std::span<const T>(buffer.get(), static_cast<size_t>(shape.count())), shape, labels);
  };
  switch (type) {
    case DType::f32: return fill(float{});
    case DType::f64: return fill(double{});
    case DType::i32: return fill(int32_t{});
    case DType::u8: return fill(uint8_t{});
    case DType::boolean: break;
  }
  return fill(bool{});
}

const TensorSpec& Tensor::spec() const {
  if (!value_) throw Error(ErrorKind::usage, 104, "a tensor that was never given a value is used");
  return value_->spec;
}

void Tensor::compute(Place place) const {
  spec();
  if (!value_->buffer && value_->pending) {
    const auto pending = value_->pending;  // evaluation clears the link
    pending->evaluate(place);
  }
  ensure(value_->buffer != nullptr, "an evaluated tensor has a buffer");
}

const void* Tensor::data(Place place) const {
  compute(place);
  if (spec().device == 0) return value_->buffer->data();
  static std::mutex mutex;  // workers may read one tensor
  const std::lock_guard lock(mutex);
  if (!value_->on_host) {
    auto on_host = cpu_device().allocate(spec().bytes());
    device().copy_to_host(on_host->data(), *value_->buffer, spec().bytes());
    value_->on_host = std::move(on_host);
  }
  return value_->on_host->data();
}

Device& Tensor::device() const { return device_at(spec().device); }

Tensor Tensor::to(Device& device, Place place) const {
  if (device.id() == spec().device) return *this;
  const void* bytes = data(place);
  TensorSpec spec = this->spec();
  spec.device = device.id();
  auto buffer = device.allocate(spec.bytes());
  device.copy_from_host(*buffer, bytes, spec.bytes());
  return Tensor(new_tensor_value(spec, std::move(buffer)));
}

template <class T>
std::vector<T> Tensor::to_vector(Place place) const {
  const bool bool_as_byte = type() == DType::boolean && dtype_of<T>() == DType::u8;
  if (type() != dtype_of<T>() && !bool_as_byte)
    throw Error(
        ErrorKind::usage, 105,
        fmt::format("values of type {} are asked of a tensor of type {}", name_of(dtype_of<T>()), name_of(type())))
        .where(place)
        .got(spec().text())
        .help("cast(x, DType::...) converts");
  const T* first = static_cast<const T*>(data(place));
  return std::vector<T>(first, first + size());
}

template std::vector<float> Tensor::to_vector(Place) const;
template std::vector<double> Tensor::to_vector(Place) const;
template std::vector<int32_t> Tensor::to_vector(Place) const;
template std::vector<uint8_t> Tensor::to_vector(Place) const;

template <class T>
T Tensor::item(Place place) const {
  if (size() != 1)
    throw Error(ErrorKind::usage, 106, "one value is asked of a tensor with " + std::to_string(size()) + " elements")
        .where(place)
        .got(spec().text());
  return to_vector<T>(place)[0];
}

template float Tensor::item(Place) const;
template double Tensor::item(Place) const;
template int32_t Tensor::item(Place) const;
template uint8_t Tensor::item(Place) const;

double Tensor::number(Place place) const {
  switch (type()) {
    case DType::f32: return item<float>(place);
    case DType::f64: return item<double>(place);
    case DType::i32: return item<int32_t>(place);
    case DType::u8:
    case DType::boolean: break;
  }
  return item<uint8_t>(place);
}

Tensor Tensor::relabelled(std::string_view labels, BatchPart part, Place place) const {
  data(place);
  auto value = new_tensor_value();
  *value = *value_;
  value->spec.labels = Labels(labels);
  value->spec.part = part;
  if (!labels.empty() && value->spec.labels.size() != rank())
    throw Error(ErrorKind::usage, 112, fmt::format("labels \"{}\" do not fit {}", labels, spec().text())).where(place);
  if (!labels.empty()) {
    const Shape permutation = canonical_permutation(value->spec.labels);
    for (int i = 0; i < rank(); ++i)
      if (permutation[i] != i)
        throw Error(ErrorKind::usage, 113, fmt::format("labels \"{}\" are not in canonical order", labels))
            .where(place)
            .expected("the order B T S C U");
  }
  return Tensor(std::move(value));
}

std::string text_of(const Tensor& tensor, int most, Place place) {
  std::string text = tensor.spec().text() + " {";
  const auto add = [&](const auto& values) {
    for (size_t i = 0; i < values.size() && i < static_cast<size_t>(most); ++i)
      text += fmt::format("{}{}", i ? ", " : "", values[i]);
    if (values.size() > static_cast<size_t>(most)) text += ", ...";
  };
  switch (tensor.type()) {
    case DType::f32: add(tensor.to_vector<float>(place)); break;
    case DType::f64: add(tensor.to_vector<double>(place)); break;
    case DType::i32: add(tensor.to_vector<int32_t>(place)); break;
    case DType::u8:
    case DType::boolean: add(tensor.to_vector<uint8_t>(place)); break;
  }
  return text + "}";
}

}  // namespace retrace
