#pragma once
// How the mini-batches of a queue are made on the host.

#include <memory>
#include <span>
#include <vector>

#include "retrace/base/range.h"
#include "retrace/data/mini_batch_queue.h"

namespace retrace {

// Makes the outputs of a queue from observations of a source: gathers them or calls the mini_batch_function, casts, and
// applies the formats. It is constant, and any thread may use it: the queue's own, or one that works ahead.
// Errors are those of the source, the function and the formats; those of the queue name no place.
class BatchMaker {
 public:
  BatchMaker(std::shared_ptr<const DataSource> source, const MiniBatchQueueOptions& options, int outputs);

  // The first `count` outputs for the observations order[samples.first], ...: of this pass. Without a
  // mini_batch_function those of DataSource::has_length() keep the first `length` entries of each observation, all of
  // them for -1.
  std::vector<Tensor> make(std::span<const int64_t> order, Range samples, int64_t pass, int count,
                           int64_t length = -1) const;
  // All outputs for these observations as rows: without the mini_batch_function, in the first pass.
  std::vector<Tensor> make_rows(std::span<const int64_t> indices) const;

 private:
  std::vector<Tensor> call_function(std::span<const int64_t> indices, int64_t pass) const;
  std::vector<Tensor> call_for_none(std::span<const int64_t> order, int64_t pass) const;
  Tensor formed(const Tensor& output, int number) const;

  std::shared_ptr<const DataSource> source_;
  MiniBatchFunction function_;
  std::vector<std::string> formats_;
  std::vector<std::optional<DType>> casts_;
  int outputs_;
};

}  // namespace retrace
