#pragma once
// The result of a run that is at its end, as its folder tells it.

#include <filesystem>

#include "retrace/train/train_job.h"

namespace retrace::cli {

// What its training returned, but for the weights. What metrics.jsonl does not say is left at its default. Errors:
// those of reading.
TrainJobResult result_of_run(const std::filesystem::path& run);

}  // namespace retrace::cli
