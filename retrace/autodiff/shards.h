#pragma once
// The part of value_and_grad that does not depend on the user's types: cutting arguments, combining results.

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "retrace/autodiff/value_and_grad.h"
#include "retrace/autodiff/worker_check.h"
#include "retrace/distributed/worker.h"
#include "retrace/ops/all_reduce/shard_split.h"
#include "retrace/tensor/tree.h"
#include "retrace/trace/draw_scope.h"

namespace retrace {

// The samples of one shard.
class ShardCut {
 public:
  ShardCut(Range samples, int64_t whole, int64_t batch, bool cuts)
      : samples_(samples), whole_(whole), batch_(batch), cuts_(cuts) {}
  // Each leaf with a B label restricted to the shard's samples.
  Tree slice(const Tree& argument) const;
  Range samples() const { return samples_; }  // within the whole mini-batch
  int64_t whole() const { return whole_; }

 private:
  Range samples_;
  int64_t whole_, batch_;
  bool cuts_;
};

// The division of a mini-batch into shards, found from the arguments that have a B label.
class ShardPlan {
 public:
  // compared: whether the workers have been compared already, at the function's first call.
  ShardPlan(int64_t shards, const Worker* worker, bool compared = true);
  // Throws Error(usage) if batch sizes differ while there are several shards or workers, or if a batch does not say its
  // part while there are several workers.
  void note(const Tree& argument);
  // An argument that is no tensor.
  void note_number(double value);
  // This worker's shards that have samples; one whole one for shards = 1.
  std::vector<ShardCut> cuts() const;
  ShardSplit split() const;
  const Worker* worker() const { return worker_; }
  // Null where there is nothing to compare.
  WorkerCheck* check() const { return check_.get(); }

 private:
  int64_t shards_;
  const Worker* worker_;
  bool alone() const { return !worker_ || worker_->size() == 1; }
  bool one_shard_here() const { return shards_ == 1 && alone(); }
  int64_t whole() const { return alone() ? batch_ : part_.whole; }
  int64_t batch_ = -1;  // samples that are here
  BatchPart part_;
  int arguments_ = 0;
  std::unique_ptr<WorkerCheck> check_;
};

// Collects the results of the shards and combines them.
class ShardedGradient {
 public:
  using Result = detail::GradientCall::Result;

  // seed, name, step: of the draws.
  ShardedGradient(const ShardPlan& plan, uint64_t seed, const std::string& name, int64_t step, bool outermost);
  ~ShardedGradient();
  ShardedGradient(const ShardedGradient&) = delete;
  ShardedGradient& operator=(const ShardedGradient&) = delete;
  // Before f: parameters as new leaves of the trace, draws numbered anew. Error(usage) for one that is no float tensor.
  const Tree& begin(const Tree& parameters, const ShardCut& cut, Place place);
  // After f: its loss is differentiated.
  void end(const Tensor& loss, Tree aux, Place place);
  Result combine(Place place);

 private:
  struct Shard {
    Range samples;
    Tensor loss;
    std::vector<Tensor> gradients;
    Tree aux;
  };
  struct Draws {
    std::optional<DrawScope> own = {};
    DrawScope* scope = nullptr;  // in which this call begins shards; null: a call around this one does
    int64_t first_ordinal = 0;
  };
  const ShardPlan& plan_;
  std::vector<Shard> shards_;
  Tree alias_;  // of the parameters, as the last shard sees them
  int64_t whole_ = 0;
  Draws draws_;
};

}  // namespace retrace
