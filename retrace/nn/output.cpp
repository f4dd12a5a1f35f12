#include "retrace/nn/output.h"

namespace retrace::nn {

std::string_view text_of(OutputKind kind) {
  switch (kind) {
    case OutputKind::class_scores: return "class scores";
    case OutputKind::position_scores: return "scores at each position";
    case OutputKind::image: return "an image";
    case OutputKind::values: return "values";
  }
  return "";
}

std::string_view target_labels(OutputKind kind) {
  switch (kind) {
    case OutputKind::class_scores: return "B";
    case OutputKind::position_scores: return "BT";
    case OutputKind::image: return "BSSC";
    case OutputKind::values: return "BC";
  }
  return "";
}

bool is_scores(OutputKind kind) { return kind == OutputKind::class_scores || kind == OutputKind::position_scores; }

std::string_view standard_loss(OutputKind kind) { return is_scores(kind) ? "cross-entropy" : "mean-squared-error"; }

std::string_view standard_metric(OutputKind kind) { return is_scores(kind) ? "accuracy" : "rmse"; }

}  // namespace retrace::nn
