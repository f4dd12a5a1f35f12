#pragma once
// One call trains a network. The command `retrace train` is the same code: equal options, data and starting values give
// equal bits.

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "retrace/data/datastore.h"
#include "retrace/distributed/pool.h"
#include "retrace/monitor/monitor.h"
#include "retrace/nn/networks.h"
#include "retrace/optim/schedule.h"
#include "retrace/train/training_options.h"

namespace retrace {

// What a training makes small: a loss by its name (cross-entropy, mean-squared-error, half-mean-squared-error), or a
// function of users.
struct Loss {
  // Gets what the network makes of a mini-batch, and the targets: of an nn::Network both by the names of its outputs;
  // of layers that make a tensor, two tensors. It returns one number, by ops.
  using Function = std::function<Tensor(const Tree& y, const Tree& targets)>;

  Loss(const char* name) : name(name) {}
  Loss(std::string loss) : name(std::move(loss)) {}
  template <class F>
    requires std::is_invocable_v<F&, const Tree&, const Tree&>
  Loss(F loss) : function(std::move(loss)) {}

  std::string name;  // empty: it is the function
  Function function = {};
};

// Where a training stands: the arguments of an output function.
struct TrainingProgress {
  StepDone step;                     // the last one
  const ValidationDone* validation;  // the last one; null: there was none
};

// A metric of one's own, measured at each validation as those by name are. The rows of all samples are added column by
// column, in binary64, from the first sample to the last: no mini-batch size, worker or thread changes a bit. Workers
// call both functions at the same time.
struct OwnMetric {
  std::string name;  // letters, digits and _; validation.objective may be it
  // Gets an output and its target for a mini-batch. Returns a number for each sample, [n], or some of them, [n,K], by
  // ops: mean(abs(y - t), {1}).
  std::function<Tensor(const Tensor& y, const Tensor& target)> of_batch;
  // Its value, from the sum of each of the K columns and the number of samples; none: the mean of the first column.
  std::function<double(const std::vector<double>& sums, int64_t samples)> value = {};
  bool larger_is_better = false;
  std::string output = {};  // of the network; empty: the first
};

// Options of train_network: those of a job file under the same names.
struct TrainNetworkOptions {
  TrainingOptions training = {};
  ValidationOptions validation = {};
  std::optional<Datastore> validation_data = {};  // none: nothing is measured
  uint64_t seed = 0;            // of the starting values of layers, of the order of the data, and of random draws
  std::string device = "auto";  // cpu, cuda, cuda:N, cuda:N,M, auto
  // Threads of this process that share each mini-batch: at most training.shards. 0: as many as there are CUDA devices,
  // or cores on the CPU, but not more than shards; with a pool, those of its workers that are more make mini-batches
  // (docs/workers.md).
  int workers = 1;
  int threads = 0;                            // of each worker; 0: see set_thread_count
  Pool* pool = nullptr;                       // whose workers train together, in place of `workers`
  LearnRate learn_rate = {};                  // a schedule of one's own, in place of training.schedule
  std::vector<OwnMetric> own_metrics = {};    // beside training.metrics
  std::vector<std::string> class_names = {};  // of the first output's classes, for reports, by their numbers
  Monitor* monitor = nullptr;                 // gets all events: a Terminal, or one's own
  // Called after every step, on the thread that trains, with worker 0; true ends the training ("stopped"), with the
  // weights of that step.
  std::function<bool(const TrainingProgress& progress)> output_function = {};
  // Whether image_input keeps the statistics that the network has, in place of those of the training data.
  bool keep_input_statistics = false;
  // A run folder (docs/command.md) with weights, metrics and checkpoints; empty: nothing is written. A file `stop` in
  // it, which `retrace monitor` writes, ends the training as the output function does.
  std::string out = {};
  // Goes on from the newest checkpoint of the run in `out`, to the bits of a run that was not broken off. Where `out`
  // holds none, a new run begins.
  bool resume = false;
};

// What happened.
struct TrainingInfo {
  // Of this call, not of the run that it goes on with, in the process that has worker 0.
  std::vector<StepDone> steps;              // each with its loss and rate
  std::vector<ValidationDone> validations;  // each with its metrics
  double validation_loss = 0;               // of the network that was returned; NaN: not measured
  MetricValues metrics;                     // the same
  int epochs = 0;
  int64_t iterations = 0;        // of the training
  int64_t output_iteration = 0;  // the one whose weights were returned
  std::string stop_reason;       // "max epochs completed", "max iterations completed", "stopped", ...
  // Where a loss was not finite: the sample that has a NaN or an infinity, or that it is the step; and what helps.
  std::string cause = {}, help = {};
  std::string fingerprint;  // of the weights: 16 hex digits
  std::string mode =
      "reproducible";  // training.mode: unless it is this, the fingerprint is that of this training alone
  std::string device;  // "cpu", "cuda:0"
  double seconds = 0;
};

// The trained network, on the CPU, and how it came about.
struct TrainedNetwork {
  nn::Network network;
  TrainingInfo info;
};

// The network with the statistics that its image_input wants of the inputs of the data, the first variable: a pass over
// all of them, in the order of the store, with what transforms draw in the first epoch. In binary64 and rounded once
// (docs/numerics/training.md 6): no thread or mini-batch changes a bit. A network that normalises nothing is returned
// as it is. train_network() and jobs do this before the first step. Errors: bad_data for a store without samples, with
// samples that the network does not read, or with a number that is not finite; those of the data.
nn::Network with_input_statistics(nn::Network network, const Datastore& data, Place place = Place::here());

// What a run recorded and a replay of it did not compute.
struct ReplayDifference {
  int64_t iteration = 0;
  int epoch = 0;
  // "samples", "loss", "learn_rate" or a tensor in steps.jsonl, "parameters/output/weights"; else the file and the
  // thing: "validation_loss in metrics.jsonl".
  std::string what;
  std::string recorded, computed;  // "none" where there is none
};

// The answer of a replay.
struct ReplayResult {
  std::string job, device;
  int64_t first = 1, last = 0;                 // the steps that were computed and compared
  int64_t begin = 0;                           // the checkpoint that they began after; 0: the start
  int64_t fingerprints = 0;                    // of tensors that were compared
  int64_t events = 0;                          // lines of metrics.jsonl that were compared
  bool weights = false;                        // weights.safetensors was compared
  bool stopped = false;                        // by the caller, before the end
  std::string mode = "reproducible";           // training.mode: unless it is this, a difference is no fault
  std::optional<ReplayDifference> difference;  // the first one
};

// The steps that are replayed; last = 0: up to the last one that the run recorded.
struct ReplaySteps {
  int64_t first = 1, last = 0;
};

// Trains a network on a store whose observations are an input and a target for each output of the network, in their
// order; further variables are left out. It begins with the network's parameters and state. A loss by name is that of
// the network's one output; a network of several outputs brings its loss along: `network.loss`. The result is a
// function of data, network, loss, options.training, options.seed and when validations choose or stop, alone: no number
// of threads or workers, device or view changes a bit. A loss that is not finite ends the training; the weights of the
// last complete epoch are returned. Errors: usage for options out of range, by the names of their job keys, for a
// store with too few variables and for a loss that does not fit; bad_data for data that do not fit the network; those
// of the data; unavailable for devices and memory; output for files.
TrainedNetwork train_network(const Datastore& data, const nn::Network& network, const Loss& loss,
                             const TrainNetworkOptions& options = {}, Place place = Place::here());
// The same of layers that make one output, "y". Starting values are drawn with the seed, for samples as the data have
// them. What y means follows from the first target: whole numbers are classes (the metric is accuracy), i32
// [height,width,1] those of pixels; another array with three axes is an image, else they are values (rmse).
TrainedNetwork train_network(const Datastore& data, const nn::Layer& layers, const Loss& loss,
                             const TrainNetworkOptions& options = {}, Place place = Place::here());

// Computes steps of a run that train_network() left in a folder (`out`) again, with the same data, network, loss and
// options, and compares each with what the run recorded: `retrace replay` for programs. It begins at the newest
// checkpoint before the first step, or at the start. Any workers, threads and device give the same answer; nothing is
// written. Of the options out, resume and output_function have no meaning. With a pool over ranks every rank calls it,
// and the rank that has worker 0 answers; others know no difference. Errors: usage for steps that the run has not;
// missing and bad_data for a run, options or data that are not what they were; those of train_network().
ReplayResult replay_network(const std::string& run, const Datastore& data, const nn::Network& network, const Loss& loss,
                            const TrainNetworkOptions& options = {}, ReplaySteps steps = {},
                            Place place = Place::here());
ReplayResult replay_network(const std::string& run, const Datastore& data, const nn::Layer& layers, const Loss& loss,
                            const TrainNetworkOptions& options = {}, ReplaySteps steps = {},
                            Place place = Place::here());

}  // namespace retrace
