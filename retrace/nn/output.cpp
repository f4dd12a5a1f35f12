#include "retrace/nn/output.h"

#include <fmt/format.h>

#include "retrace/base/error.h"

namespace retrace::nn {

std::string_view text_of(OutputKind kind) {
  switch (kind) {
    case OutputKind::class_scores: return "class scores";
    case OutputKind::position_scores: return "scores at each position";
    case OutputKind::image: return "an image";
    case OutputKind::pixel_scores: return "scores at each pixel";
    case OutputKind::values: return "values";
    case OutputKind::series_scores: return "scores at each position of a series";
    case OutputKind::series_values: return "values at each position of a series";
    case OutputKind::token_scores: return "scores of tokens at each position";
  }
  return "";
}

std::string_view target_labels(OutputKind kind) {
  switch (kind) {
    case OutputKind::class_scores: return "B";
    case OutputKind::position_scores: return "BT";
    case OutputKind::image:
    case OutputKind::pixel_scores: return "BSSC";
    case OutputKind::values: return "BC";
    case OutputKind::series_scores:
    case OutputKind::token_scores: return "BT";
    case OutputKind::series_values: return "BTC";
  }
  return "";
}

Shape target_shape(OutputKind kind, const Shape& output) {
  if (!is_scores(kind)) return output;
  Shape shape(std::span(output.begin(), output.end() - 1));
  if (kind == OutputKind::pixel_scores) shape.push_back(1);
  return shape;
}

bool is_scores(OutputKind kind) {
  return kind == OutputKind::class_scores || kind == OutputKind::position_scores || kind == OutputKind::series_scores ||
         kind == OutputKind::token_scores || kind == OutputKind::pixel_scores;
}

bool has_padding(OutputKind kind) {
  return kind == OutputKind::series_scores || kind == OutputKind::series_values || kind == OutputKind::token_scores ||
         kind == OutputKind::pixel_scores;
}

void check_class_weights(const NetworkOutput& output, int64_t classes) {
  const auto count = static_cast<int64_t>(output.class_weights.size());
  if (count == 0 || count == classes) return;
  throw Error(ErrorKind::usage, 292, fmt::format("the class_weights of the output \"{}\" do not fit", output.name))
      .got(fmt::format("{} numbers", count))
      .expected(fmt::format("one for each of the {} classes", classes));
}

std::string_view standard_loss(OutputKind kind) {
  if (kind == OutputKind::token_scores) return "ctc";
  return is_scores(kind) ? "cross-entropy" : "mean-squared-error";
}

std::string_view standard_metric(OutputKind kind) {
  if (kind == OutputKind::token_scores) return "token-error-rate";
  return is_scores(kind) ? "accuracy" : "rmse";
}

}  // namespace retrace::nn
