#pragma once
// The samples that a trained run is asked about.

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "retrace/data/mini_batch_queue.h"
#include "retrace/data/source_kind.h"
#include "retrace/nn/networks.h"
#include "retrace/train/job.h"

namespace retrace {

// Samples as the network of a job reads them, in mini-batches: with the transforms that the job has for every set.
// Images come from an IDX file of grey images, from an NPY file, or from image files: one, those of a folder and of the
// folders in it, or those of a path with wildcards, in the order of their paths, brought to the size of the network's
// samples as data.image_fit says. Features come from an NPY file, or from a CSV file, whose columns are found by the
// names that they had in the training set, or, without a line of names, are in the order of that set, with or without
// the target. What only the job's source of data knows comes from that (texts).
class PredictionInputs {
 public:
  // table: of the run (retrace/train/run_table.h). Errors: missing; bad_data, with the file, for what holds no samples,
  // or others than the network reads; usage for a file of a kind that holds no samples of this network.
  PredictionInputs(const Job& job, const nn::Network& network, const std::filesystem::path& input,
                   const TrainingFacts& table = {});

  // The paths of image files, one for each sample; empty for an IDX file.
  const std::vector<std::string>& files() const { return files_; }
  // The positions of a sample that are no padding: of a source that tells lengths.
  int64_t length(int64_t sample) const { return store_->source()->length(sample); }
  // f32 [batch,height,width,channels] "BSSC" or [batch,features] "BC"; none at the end. Where there are no samples,
  // once an empty one. Errors: those of files that are read now.
  std::optional<Tensor> next();

 private:
  Shape sample_;
  std::vector<std::string> files_;
  std::optional<Datastore> store_;
  std::optional<MiniBatchQueue> queue_;
  bool begun_ = false;
};

}  // namespace retrace
