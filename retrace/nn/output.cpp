#include "retrace/nn/output.h"

namespace retrace::nn {

std::string_view text_of(OutputKind kind) {
  switch (kind) {
    case OutputKind::class_scores: return "class scores";
    case OutputKind::image: return "an image";
    case OutputKind::values: return "values";
  }
  return "";
}

std::string_view target_labels(OutputKind kind) {
  switch (kind) {
    case OutputKind::class_scores: return "B";
    case OutputKind::image: return "BSSC";
    case OutputKind::values: return "BC";
  }
  return "";
}

std::string_view standard_loss(OutputKind kind) {
  return kind == OutputKind::class_scores ? "cross-entropy" : "mean-squared-error";
}

std::string_view standard_metric(OutputKind kind) { return kind == OutputKind::class_scores ? "accuracy" : "rmse"; }

}  // namespace retrace::nn
