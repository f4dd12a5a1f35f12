#include "retrace/data/padded_samples.h"

namespace retrace {

Observation PaddedSamples::get(int64_t index, int64_t) const {
  return {inputs({&index, 1}, false), targets({&index, 1}, false)};
}

std::vector<Tensor> PaddedSamples::gather(std::span<const int64_t> indices, int64_t, int variables) const {
  std::vector<Tensor> batch;
  if (variables > 0) batch.push_back(inputs(indices, true));
  if (variables > 1) batch.push_back(targets(indices, true));
  return batch;
}

std::vector<SourceFile> PaddedSamples::files() const {
  std::vector<SourceFile> files;
  for (const auto& path : files_) files.push_back({path});
  return files;
}

}  // namespace retrace
