#pragma once
// How a network is trained: the same options, names and defaults in jobs and in programs. The key of each in a job file
// is the field's name below ("training.max_epochs", "validation.frequency").

#include <optional>
#include <string>

#include "retrace/optim/solver.h"

namespace retrace {

// The options of [training].
struct TrainingOptions {
  std::string solver = "adam";  // of retrace/optim/solvers
  int64_t max_epochs = 30;
  int64_t max_iterations = 0;  // the training ends after so many, also within an epoch; 0: max_epochs alone says it
  int64_t mini_batch_size = 128;
  int64_t shards = 1;  // parts of a mini-batch; a constant of the job, since it changes bits
  // Mini-batches whose gradients make one step: an iteration. Their memory is that of one.
  int64_t accumulate = 1;
  std::optional<double> initial_learn_rate = {};  // default: the solver's own
  std::string schedule = "none";  // of retrace/optim/schedules; several one after the other: "warm-up, cosine"
  std::vector<ParameterGroup> groups = {};  // parameters that are trained with factors and options of their own
  double l2_regularization = 0;             // of what is not spared: see l2_regularization() in optim/regularize.h
  // Gradients, with L2, are clipped to it; 0: not at all. See clip_gradients() in optim/regularize.h.
  double gradient_threshold = 0;
  std::string gradient_threshold_method = "l2norm";  // l2norm, global-l2norm, absolute-value
  // Of an average of the weights, which is validated and returned in place of them; 0: none. See docs/training.md 4.
  double average_decay = 0;
  std::string shuffle = "once";             // never, once, every-epoch
  std::string partial_mini_batch = "keep";  // keep, discard: the last mini-batch of an epoch where it is short
  // Ascending lengths of samples that are padded: MiniBatchQueueOptions::buckets. Empty: all are of one length.
  std::vector<int64_t> buckets = {};
  // Threads that read and transform the next mini-batches while a step runs; 0: each is made when it is needed. Their
  // number changes no bit. Default: that of MiniBatchQueueOptions::prefetch_threads.
  std::optional<int> loader_threads = {};
  std::string acceleration = "accelerated";  // plain, default, accelerated
  // reproducible, fast, fast_bf16: see Mode. Default: mode() where the training is started. What is fast is marked so.
  std::optional<std::string> mode = {};
  int64_t checkpoint_iterations = 0;  // a checkpoint after every so many iterations; 0: none by their number
  int64_t checkpoint_epochs = 0;      // the same of epochs
  double checkpoint_seconds = 60;     // and when so many seconds have passed since the one before
  int64_t checkpoints_kept = 2;       // the newest so many
  // A snapshot after every so many iterations, 0: none. It is a checkpoint that is not synced, and the newest alone
  // stays: it outlives the processes of the training, but not their machine.
  int64_t snapshot_iterations = 0;
  int64_t fingerprint_iterations = 100;  // fingerprints in the step log; 0: at the ends of epochs alone
  // The weights that are the result: last-iteration; best-validation, those of the best validation by its objective.
  std::string output_network = "last-iteration";
  // Of batch norms in the result: moving, the running ones of the steps; population, those of all training data, by a
  // pass over them after the last step. See docs/training.md 4.
  std::string batch_norm_statistics = "moving";
  double timeout = 60;  // seconds that workers wait for one that gives no sign of life
  // Of retrace/train/metrics: each measures the outputs that it can; none: the one that each output has.
  std::vector<std::string> metrics = {};
  OptionValues options = {};  // of the solver, the schedule and the metrics; their keys stand beside the others
};

// The options of [validation]: when the network is measured while it is trained. Its result is measured in any case.
struct ValidationOptions {
  int64_t frequency = 1;           // from one validation to the next; the last step of the training has one, too
  std::string unit = "epochs";     // epochs, iterations: what frequency counts
  int64_t patience = 0;            // validations in a row that find nothing better end the training; 0: none do
  std::string objective = "loss";  // loss, or the name of a metric: what is better is said by it
};

}  // namespace retrace
