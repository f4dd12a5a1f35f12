#include <algorithm>

#include "retrace/train/class_numbers.h"
#include "retrace/train/metric_kind.h"
#include "retrace/train/token_path.h"

namespace retrace {
namespace {

// The edits of all samples, and the tokens of their targets.
std::vector<double> of_tensors_token_error_rate(const Tensor& y, const Tensor& target) {
  const std::vector<float> scores = y.to_vector<float>();
  const std::vector<int32_t> tokens = class_numbers(target);
  const int64_t samples = y.shape()[0], classes = y.shape().back();
  int64_t edits = 0, count = 0;
  for (int64_t i = 0; i < samples; ++i) {
    const auto part = [&](const auto& all) {
      const size_t size = all.size() / static_cast<size_t>(samples);
      return std::span(all).subspan(static_cast<size_t>(i) * size, size);
    };
    const auto padded = part(tokens);
    const auto own = padded.first(static_cast<size_t>(std::find(padded.begin(), padded.end(), -1) - padded.begin()));
    edits += edit_distance(best_path(part(scores), classes), own);
    count += std::ssize(own);
  }
  return {static_cast<double>(edits), static_cast<double>(count)};
}

}  // namespace

// The sum over all samples of the edit distance of their best path to their tokens, over the number of these tokens.
MetricKind token_error_rate_metric() {
  return {
      .name = "token-error-rate",
      .help = "tokens that are put in, taken out or replaced to get those of the best path, over the tokens there are",
      .outputs = {nn::OutputKind::token_scores},
      .of_tensors = of_tensors_token_error_rate,
      .value = [](const MetricNumbers& all, const OptionValues&) { return mean_of(all.numbers[0], all.numbers[1]); }};
}

}  // namespace retrace
