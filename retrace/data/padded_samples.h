#pragma once
// Samples of different lengths, filled up to one, with their targets.

#include <string>
#include <vector>

#include "retrace/data/datastore.h"

namespace retrace {

// The input, as inputs() makes it, and the target, as targets() does. They are in memory; `files`: those that they were
// read from.
class PaddedSamples : public DataSource {
 public:
  explicit PaddedSamples(std::vector<std::string> files) : files_(std::move(files)) {}

  int variables() const override { return 2; }
  Observation get(int64_t index, int64_t pass) const override;
  std::vector<Tensor> gather(std::span<const int64_t> indices, int64_t pass, int variables) const override;
  std::vector<SourceFile> files() const override;

 protected:
  // The inputs of these samples, filled up: with an axis B in front, or of the one sample without it.
  virtual Tensor inputs(std::span<const int64_t> indices, bool stacked) const = 0;
  // The same of the targets.
  virtual Tensor targets(std::span<const int64_t> indices, bool stacked) const = 0;

 private:
  std::vector<std::string> files_;
};

}  // namespace retrace
