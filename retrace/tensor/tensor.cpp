#include "retrace/tensor/tensor.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <mutex>
#include <new>
#include <ostream>

#include "retrace/base/recycle.h"
#include "retrace/tensor/number.h"

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

Tensor make(const void* bytes, const TensorSpec& spec, Place place) {
  auto buffer = allocate_for(spec, cpu_device(), place);
  cpu_device().copy_from_host(*buffer, bytes, spec.bytes());
  return Tensor(new_tensor_value(spec, std::move(buffer)));
}

// In canonical order.
template <class T>
Tensor permuted(std::span<const T> values, const Shape& shape, std::string_view labels, Place place) {
  check_sizes(values.size(), shape, place);
  const Labels given(labels);
  TensorSpec spec{dtype_of<T>(), extended(shape, given, place), given, {}};
  if (given.empty()) return make(values.data(), spec, place);
  const Shape permutation = canonical_permutation(given);
  if (std::is_sorted(permutation.begin(), permutation.end())) return make(values.data(), spec, place);
  std::vector<char> moved(spec.bytes());
  permute_bytes(reinterpret_cast<const char*>(values.data()), moved.data(), spec.shape, permutation, sizeof(T));
  const Shape before = spec.shape;
  for (int i = 0; i < before.rank(); ++i) spec.shape[i] = before[static_cast<int>(permutation[i])];
  spec.labels = permute(given, permutation);
  return make(moved.data(), spec, place);
}

}  // namespace

std::shared_ptr<TensorValue> new_tensor_value(TensorSpec spec, std::shared_ptr<Buffer> buffer) {
  auto value = std::allocate_shared<TensorValue>(Recycled<TensorValue>());
  value->spec = std::move(spec), value->buffer = std::move(buffer);
  return value;
}

std::shared_ptr<Buffer> allocate_for(const TensorSpec& spec, Device& device, Place place) {
  try {
    return device.allocate(spec.bytes());
  } catch (const std::bad_alloc&) {
    throw no_memory(spec.bytes(), place).got(spec.text());
  }
}

Error no_memory(size_t bytes, Place place) {
  return Error(ErrorKind::unavailable, 128, fmt::format("there is not enough memory for {} bytes", bytes))
      .where(place)
      .help("a smaller network or mini-batch; RETRACE_MEMORY_LIMIT where the intermediates of a step do not fit");
}

void check_fits(DType type, double value, Place place) {
  if (can_hold(type, value)) return;
  throw Error(ErrorKind::usage, 108, fmt::format("the number {} does not fit the type {}", value, name_of(type)))
      .where(place)
      .expected(std::string(range_of(type)));
}

template <class T>
Tensor Tensor::from_values(std::span<const T> values, const Shape& shape, std::string_view labels, Place place) {
  if constexpr (std::same_as<T, int64_t>) {
    for (size_t i = 0; i < values.size(); ++i)
      if (values[i] != static_cast<int32_t>(values[i]))
        throw Error(ErrorKind::usage, 108, fmt::format("the number {} does not fit the type i32", values[i]))
            .where(place)
            .got(fmt::format("an int64_t, at {} of {}", i, values.size()))
            .expected(std::string(range_of(DType::i32)))
            .help("Tensor::from_i64 makes a tensor of type i64");
    return from_values(std::span<const int32_t>(std::vector<int32_t>(values.begin(), values.end())), shape, labels,
                       place);
  } else {
    return with_place(place, [&] { return permuted(values, shape, labels, place); });
  }
}

template Tensor Tensor::from_values(std::span<const float>, const Shape&, std::string_view, Place);
template Tensor Tensor::from_values(std::span<const double>, const Shape&, std::string_view, Place);
template Tensor Tensor::from_values(std::span<const int32_t>, const Shape&, std::string_view, Place);
template Tensor Tensor::from_values(std::span<const int64_t>, const Shape&, std::string_view, Place);
template Tensor Tensor::from_values(std::span<const uint8_t>, const Shape&, std::string_view, Place);
template Tensor Tensor::from_values(std::span<const bool>, const Shape&, std::string_view, Place);
template Tensor Tensor::from_values(std::span<const BFloat16>, const Shape&, std::string_view, Place);
template Tensor Tensor::from_values(std::span<const Float16>, const Shape&, std::string_view, Place);

Tensor Tensor::from_i64(std::span<const int64_t> values, const Shape& shape, std::string_view labels, Place place) {
  return with_place(place, [&] { return permuted(values, shape, labels, place); });
}

Tensor Tensor::from_bytes(const void* bytes, const TensorSpec& spec) { return make(bytes, spec, {}); }

void Tensor::refuse(Place place) const {
  if (!value_) throw Error(ErrorKind::usage, 104, "a tensor that was never given a value is used").where(place);
  throw Error(ErrorKind::usage, 129, "a tensor is used whose value was moved away")
      .where(place)
      .help("pass a copy in place of std::move(x): copies share their value");
}

void evaluate(const Tensor& x, Place place) {
  x.spec(place);
  const auto& value = x.value();
  if (!value->buffer && value->pending) {
    const auto pending = value->pending;  // evaluation clears the link
    pending->evaluate(place);
  }
  ensure(value->buffer != nullptr, "an evaluated tensor has a buffer");
}

const void* Tensor::data(Place place) const {
  evaluate(*this, place);
  if (spec().device == 0) return value_->buffer->data();
  static std::mutex mutex;  // workers may read one tensor
  const std::lock_guard lock(mutex);
  if (!value_->on_host) {
    auto on_host = allocate_for(spec(), cpu_device(), place);
    device().copy_to_host(on_host->data(), *value_->buffer, spec().bytes());
    value_->on_host = std::move(on_host);
  }
  return value_->on_host->data();
}

Device& Tensor::device(Place place) const { return device_at(spec(place).device); }

Tensor Tensor::to(DeviceRef device, Place place) const {
  if (device->id() == spec(place).device) return *this;
  const void* bytes = data(place);
  TensorSpec spec = this->spec();
  spec.device = device->id();
  auto buffer = allocate_for(spec, device, place);
  device->copy_from_host(*buffer, bytes, spec.bytes());
  return Tensor(new_tensor_value(spec, std::move(buffer)));
}

template <class T>
std::vector<T> Tensor::values(Place place) const {
  const DType own = type(place);
  if constexpr (std::same_as<T, int64_t>) {
    if (!is_float(own)) {
      const auto widened = [&](auto example) {
        const auto* first = static_cast<const decltype(example)*>(data(place));
        return std::vector<int64_t>(first, first + size());
      };
      if (own == DType::i64) return widened(int64_t{});
      return own == DType::i32 ? widened(int32_t{}) : widened(uint8_t{});
    }
  } else {
    if (own == dtype_of<T>() || (own == DType::boolean && dtype_of<T>() == DType::u8)) {
      const T* first = static_cast<const T*>(data(place));
      return std::vector<T>(first, first + size());
    }
  }
  std::string_view asked = "int64";
  if constexpr (!std::same_as<T, int64_t>) asked = name_of(dtype_of<T>());
  throw Error(ErrorKind::usage, 105,
              fmt::format("values of type {} are asked of a tensor of type {}", asked, name_of(own)))
      .where(place)
      .got(spec().text())
      .help("cast(x, DType::...) converts");
}

template std::vector<float> Tensor::values(Place) const;
template std::vector<double> Tensor::values(Place) const;
template std::vector<int32_t> Tensor::values(Place) const;
template std::vector<int64_t> Tensor::values(Place) const;
template std::vector<uint8_t> Tensor::values(Place) const;
template std::vector<BFloat16> Tensor::values(Place) const;
template std::vector<Float16> Tensor::values(Place) const;

void Tensor::check_single(Place place) const {
  if (size(place) == 1) return;
  throw Error(ErrorKind::usage, 106, "one value is asked of a tensor with " + std::to_string(size()) + " elements")
      .where(place)
      .got(spec().text());
}

double Tensor::number(Place place) const {
  switch (type(place)) {
    case DType::f32: return item<float>(place);
    case DType::f64: return item<double>(place);
    case DType::i32: return item<int32_t>(place);
    case DType::bf16: return static_cast<double>(to_f32(item<BFloat16>(place)));
    case DType::f16: return static_cast<double>(to_f32(item<Float16>(place)));
    case DType::i64: return static_cast<double>(item<int64_t>(place));
    case DType::u8:
    case DType::boolean: break;
  }
  return item<uint8_t>(place);
}

Tensor Tensor::relabelled(std::string_view labels, BatchPart part, Place place) const {
  data(place);
  auto value = new_tensor_value();
  *value = *value_;
  value->spec.labels = with_place(place, [&] { return Labels(labels); });
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
  std::string text = tensor.spec(place).text() + " {";
  const auto add = [&](const auto& values) {
    for (size_t i = 0; i < values.size() && i < static_cast<size_t>(most); ++i)
      text += fmt::format("{}{}", i ? ", " : "", number(values[i]));
    if (values.size() > static_cast<size_t>(most)) text += ", ...";
  };
  switch (tensor.type()) {
    case DType::f32: add(tensor.to_vector<float>(place)); break;
    case DType::f64: add(tensor.to_vector<double>(place)); break;
    case DType::i32: add(tensor.to_vector<int32_t>(place)); break;
    case DType::bf16: add(tensor.to_vector<BFloat16>(place)); break;
    case DType::f16: add(tensor.to_vector<Float16>(place)); break;
    case DType::i64: add(tensor.to_vector<int64_t>(place)); break;
    case DType::u8:
    case DType::boolean: add(tensor.to_vector<uint8_t>(place)); break;
  }
  return text + "}";
}

std::ostream& operator<<(std::ostream& out, const Tensor& tensor) {
  return out << (tensor.defined() ? text_of(tensor, 16, {}) : "no tensor");
}

}  // namespace retrace
