#include "retrace/train/padding_cut.h"

#include <algorithm>
#include <cmath>

#include "retrace/ops/slice/slice.h"

namespace retrace {
namespace {

bool takes_input(const nn::LayerText& layer) {
  return std::find(layer.from.begin(), layer.from.end(), "input") != layer.from.end() ||
         std::any_of(layer.layers.begin(), layer.layers.end(), takes_input);
}

bool is_of_samples(const nn::NetworkOutput& output) {
  return output.kind == nn::OutputKind::class_scores || output.kind == nn::OutputKind::values;
}

// The positions before the padding that all samples share.
template <class T>
int64_t used_length(const Tensor& x, double padding) {
  const int64_t samples = x.shape()[0], length = x.shape()[1];
  const int64_t features = samples * length > 0 ? x.size() / (samples * length) : 0;
  const auto* const values = static_cast<const T*>(x.data());
  int64_t used = 0;
  for (int64_t i = 0; i < samples; ++i)
    for (int64_t at = length; at > used; --at) {
      const auto value = static_cast<double>(values[(i * length + at - 1) * features]);
      if (std::isnan(padding) ? std::isnan(value) : value == padding) continue;
      used = at;
    }
  return used;
}

}  // namespace

std::optional<double> masked_padding(const nn::NetworkOptions& options, const std::vector<nn::NetworkOutput>& outputs) {
  const auto& layers = options.layers;
  if (layers.empty() || std::any_of(layers.begin(), layers.end(), takes_input) ||
      !std::all_of(outputs.begin(), outputs.end(), is_of_samples))
    return std::nullopt;
  if (layers[0].type == "sequence_input") return std::nan("");
  const OptionValue* const token = layers[0].type == "embedding" ? layers[0].options.find("padding_token") : nullptr;
  if (!token || std::get<int64_t>(*token) < 0) return std::nullopt;
  return static_cast<double>(std::get<int64_t>(*token));
}

Tensor without_padding(const Tensor& x, std::optional<double> padding) {
  if (!padding || x.rank() < 2 || x.size() == 0 || x.device().name() != "cpu") return x;
  const int64_t length = x.shape()[1];
  int64_t used = length;
  if (x.type() == DType::f32) used = used_length<float>(x, *padding);
  if (x.type() == DType::i32) used = used_length<int32_t>(x, *padding);
  const int64_t half = (length + 1) / 2, quarter = (length + 3) / 4;
  const int64_t kept = used <= quarter ? quarter : used <= half ? half : length;
  if (kept == length) return x;
  const Tensor cut = slice(x, 1, {0, kept});
  evaluate(cut);
  return cut;
}

}  // namespace retrace
