#include "retrace/data/batch_format.h"

#include <algorithm>

#include "retrace/data/stack.h"

namespace retrace {
namespace {

bool same_labels(std::string_view a, std::string_view b) {
  return a.size() == b.size() && std::is_permutation(a.begin(), a.end(), b.begin());
}

template <class T>
Tensor permuted(const Tensor& batch, std::string_view format, Place place) {
  const std::span<const T> values(static_cast<const T*>(batch.data(place)), static_cast<size_t>(batch.size()));
  return Tensor::from(values, batch.shape(), format, place);
}

Tensor permuted(const Tensor& batch, std::string_view format, Place place) {
  switch (batch.type()) {
    case DType::f32: return permuted<float>(batch, format, place);
    case DType::f64: return permuted<double>(batch, format, place);
    case DType::i32: return permuted<int32_t>(batch, format, place);
    case DType::u8: return permuted<uint8_t>(batch, format, place);
    case DType::bf16: return permuted<BFloat16>(batch, format, place);
    case DType::f16: return permuted<Float16>(batch, format, place);
    case DType::i64: return permuted<int64_t>(batch, format, place);
    case DType::boolean: break;
  }
  return permuted<bool>(batch, format, place);
}

}  // namespace

Tensor with_format(const Tensor& batch, std::string_view format, Place place) {
  if (same_labels(batch.labels(), format)) return batch;
  const Labels labels(format);
  const Shape order = canonical_permutation(labels);
  const bool canonical = std::is_sorted(order.begin(), order.end());
  if (!canonical || labels.size() < batch.rank()) return permuted(batch, format, place);
  TensorSpec spec = batch.spec();
  spec.labels = labels, spec.part = {};
  while (spec.shape.rank() < labels.size()) spec.shape.push_back(1);
  return with_spec(batch, spec);
}

std::string stacked_format(std::string_view format) {
  std::string text(format);
  const size_t batch = text.find('B');
  if (batch != std::string::npos)
    std::rotate(text.begin(), text.begin() + static_cast<std::ptrdiff_t>(batch),
                text.begin() + static_cast<std::ptrdiff_t>(batch) + 1);
  return text;
}

}  // namespace retrace
