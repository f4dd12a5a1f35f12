#include "retrace/train/confusion.h"

namespace retrace {

// Counts: row i, column j is the number of samples of class i whose highest score is that of class j.
MetricKind confusion_matrix_metric() {
  return {.name = "confusion-matrix",
          .help = "a table: the samples of each class (row) by the class that was predicted (column)",
          .outputs = {nn::OutputKind::class_scores, nn::OutputKind::series_scores, nn::OutputKind::pixel_scores},
          .of_batch = [](const MetricBatch& batch, const OptionValues&) { return confusion_counts(batch); },
          .table =
              [](const MetricNumbers& all) {
                MetricTable rows;
                for (auto row = all.numbers.begin(); row != all.numbers.end(); row += all.width)
                  rows.emplace_back(row, row + all.width);
                return rows;
              }};
}

}  // namespace retrace
