#include "retrace/data/stack.h"

#include <fmt/format.h>

#include <type_traits>

#include "retrace/base/convert.h"
#include "retrace/base/copy_bytes.h"
#include "retrace/base/fp_environment.h"

namespace retrace {
namespace {

struct Truth {  // bool as it is stored
  uint8_t value;
};

// bf16 and f16 go through f32.
template <class To, class From>
To convert(From from) {
  if constexpr (std::is_same_v<From, BFloat16> || std::is_same_v<From, Float16>) {
    return convert<To>(to_f32(from));
  } else if constexpr (std::is_same_v<To, BFloat16>) {
    return to_bf16(convert<float>(from));
  } else if constexpr (std::is_same_v<To, Float16>) {
    return to_f16(convert<float>(from));
  } else if constexpr (std::is_same_v<From, Truth>) {
    return convert<To>(from.value);
  } else if constexpr (std::is_same_v<To, Truth>) {
    return {from != From(0)};
  } else {
    return converted<To>(from);
  }
}

template <class Function>
void with_type(DType type, Function function) {
  switch (type) {
    case DType::f32: return function(float());
    case DType::f64: return function(double());
    case DType::i32: return function(int32_t());
    case DType::u8: return function(uint8_t());
    case DType::bf16: return function(BFloat16());
    case DType::f16: return function(Float16());
    case DType::i64: return function(int64_t());
    case DType::boolean: return function(Truth());
  }
}

}  // namespace

Tensor with_spec(const Tensor& tensor, const TensorSpec& spec) {
  evaluate(tensor);
  ensure(spec.bytes() == tensor.spec().bytes(), "a new description has the size of the old one");
  return Tensor(new_tensor_value(spec, tensor.value()->buffer));
}

BlankTensor::BlankTensor(TensorSpec spec) {
  spec.device = cpu_device().id();
  auto buffer = allocate_for(spec, cpu_device(), {});
  bytes = static_cast<std::byte*>(buffer->data());
  tensor = Tensor(new_tensor_value(std::move(spec), std::move(buffer)));
}

TensorSpec stacked_spec(const TensorSpec& one, int64_t count) {
  TensorSpec spec{one.type, {count}, {}, {}};
  for (int64_t size : one.shape) spec.shape.push_back(size);
  if (one.shape.rank() == 0 || !one.labels.empty()) spec.labels = Labels("B" + std::string(one.labels.text()));
  return spec;
}

Tensor stack_samples(std::span<const Tensor> tensors, int variable) {
  if (tensors.empty()) throw Error(ErrorKind::usage, 321, "no observation was given to stack");
  const TensorSpec& one = tensors[0].spec();
  const BlankTensor blank(stacked_spec(one, static_cast<int64_t>(tensors.size())));
  for (size_t i = 0; i < tensors.size(); ++i) {
    if (tensors[i].spec() != one)
      throw Error(ErrorKind::usage, 321, fmt::format("observations 0 and {} of a mini-batch cannot be stacked", i))
          .got(fmt::format("{}{} and {}", variable < 0 ? "" : fmt::format("variable {}: ", variable), one.text(),
                           tensors[i].spec().text()))
          .expected("the same shape, type and labels for all")
          .help("pad or cut them in a transform, or stack them in a mini_batch_function");
    if (one.bytes()) copy_bytes(blank.bytes + i * one.bytes(), tensors[i].data(), one.bytes());
  }
  return blank.tensor;
}

Tensor converted(const Tensor& tensor, DType type) {
  if (tensor.type() == type) return tensor;
  const FloatingPointScope scope;
  TensorSpec spec = tensor.spec();
  spec.type = type;
  const BlankTensor blank(spec);
  const void* data = tensor.data();
  with_type(tensor.type(), [&](auto from) {
    with_type(type, [&](auto to) {
      const auto* source = static_cast<const decltype(from)*>(data);
      auto* target = reinterpret_cast<decltype(to)*>(blank.bytes);
      for (int64_t i = 0; i < spec.count(); ++i) target[i] = convert<decltype(to)>(source[i]);
    });
  });
  return blank.tensor;
}

}  // namespace retrace
