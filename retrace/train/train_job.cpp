#include "retrace/train/train_job.h"

#include <fmt/format.h>

#include <chrono>
#include <cmath>
#include <optional>

#include "retrace/autodiff/value_and_grad.h"
#include "retrace/base/fp_environment.h"
#include "retrace/base/hash.h"
#include "retrace/data/mini_batch_queue.h"
#include "retrace/device/cpu/threads.h"
#include "retrace/monitor/json_lines.h"
#include "retrace/ops/batch_norm/batch_norm.h"
#include "retrace/ops/operators.h"
#include "retrace/optim/adam.h"
#include "retrace/optim/sgdm.h"
#include "retrace/run/plan_cache.h"
#include "retrace/tensor/fingerprint.h"
#include "retrace/train/evaluate_network.h"
#include "retrace/train/job_data.h"
#include "retrace/train/run_folder.h"
#include "retrace/train/weights.h"

namespace retrace {
namespace {

double seconds_since(std::chrono::steady_clock::time_point start) {
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
}

// gradients + factor * parameters; biases and offsets are exempt.
Tree add_l2(const Tree& gradients, const Tree& parameters, double factor) {
  if (factor == 0) return gradients;
  auto result = leaf_tensors(gradients);
  const auto weights = leaves(parameters);
  const Tensor lambda = Tensor::full({}, factor);
  for (size_t i = 0; i < result.size(); ++i) {
    const auto& path = weights[i].first;
    const std::string name = path.substr(path.rfind('/') + 1);
    if (name != "bias" && name != "offset") result[i] = result[i] + lambda * weights[i].second;
  }
  return with_leaves(gradients, result);
}

class Schedule {
 public:
  Schedule(const TrainingOptions& options, int64_t iterations) : options_(options), iterations_(iterations) {}
  // Iteration from 0, epoch from 1; in binary64, rounded once.
  float rate(int64_t iteration, int epoch) const {
    double rate = options_.initial_learn_rate;
    if (options_.schedule == "linear") rate *= 1.0 - static_cast<double>(iteration) / static_cast<double>(iterations_);
    if (options_.schedule == "piecewise")
      for (int drop = options_.drop_period; drop < epoch; drop += options_.drop_period) rate *= options_.drop_factor;
    return static_cast<float>(rate);
  }

 private:
  const TrainingOptions& options_;
  int64_t iterations_;
};

class Solver {
 public:
  explicit Solver(const TrainingOptions& options) : options_(options) {}
  Tree update(const Tree& parameters, const Tree& gradients, float rate) {
    const Tree regular = add_l2(gradients, parameters, options_.l2_regularization);
    if (options_.solver == "sgdm") {
      auto made = sgdm_update(parameters, regular, sgdm_,
                              {.learn_rate = rate, .momentum = static_cast<float>(options_.momentum)});
      sgdm_ = made.state;
      return made.parameters;
    }
    auto made = adam_update(parameters, regular, adam_,
                            {.learn_rate = rate,
                             .gradient_decay = static_cast<float>(options_.gradient_decay_factor),
                             .squared_gradient_decay = static_cast<float>(options_.squared_gradient_decay_factor),
                             .epsilon = static_cast<float>(options_.epsilon)});
    adam_ = made.state;
    return made.parameters;
  }

 private:
  const TrainingOptions& options_;
  SgdmState sgdm_;
  AdamState adam_;
};

// The loss of a mini-batch as value_and_grad takes it.
auto loss_of(const nn::Network& network) {
  return [&network](const Tree& p, const Tensor& x, const Tree& targets, const Tree& state) {
    const auto [y, moments] = network.model(p, x, state, Phase::train);
    return WithAux<Tree>{network.loss(y, targets), moments};
  };
}

class Training {
 public:
  Training(const Job& job, const TrainJobControl& control)
      : job_(job),
        control_(control),
        network_(make_job_network(job)),
        data_(load_job_data(job, network_)),
        queue_(data_.train, queue_options()),
        state_{network_.parameters, network_.state},
        schedule_(job.training, queue_.mini_batches() * job.training.max_epochs),
        solver_(job.training) {
    if (queue_.mini_batches() == 0)
      throw Error(ErrorKind::usage, 421,
                  fmt::format("the training set of {} samples has no whole mini-batch of {}", queue_.size(),
                              job.training.mini_batch_size))
          .help("set a smaller training.mini_batch_size, or training.partial_mini_batch = \"keep\"");
  }

  TrainJobResult run() {
    open_run();
    tell(RunStarted{job_.name, "cpu", result_.run_dir.string(), thread_count(), job_.training.max_epochs,
                    queue_.mini_batches(), count_parameters()});
    const auto step = value_and_grad(loss_of(network_), {.shards = job_.training.shards, .seed = job_.seed});
    start_ = std::chrono::steady_clock::now();
    result_.stop_reason = "max epochs completed";
    for (int epoch = 1; epoch <= job_.training.max_epochs && !stopped_; ++epoch) run_epoch(step, epoch);
    result_.seconds = seconds_since(start_);
    finish();
    return result_;
  }

 private:
  struct Weights {
    Tree parameters, state;
  };

  MiniBatchQueueOptions queue_options() const {
    return {.mini_batch_size = job_.training.mini_batch_size,
            .partial = job_.training.partial_mini_batch == "keep" ? Partial::keep : Partial::discard,
            .formats = data_.formats,
            .outputs = static_cast<int>(data_.formats.size()),
            .seed = job_.seed};
  }

  int64_t count_parameters() const {
    int64_t count = 0;
    for (const auto& tensor : leaf_tensors(state_.parameters)) count += tensor.size();
    return count;
  }

  void open_run() {
    result_.job = job_.name;
    result_.device = "cpu";
    result_.threads = thread_count();
    if (!control_.write_run) return;
    run_.emplace(RunFolder::create(job_, current_versions("cpu"), control_.out));
    result_.run_dir = run_->path();
  }

  void tell(const Event& event) {
    if (run_ && !std::holds_alternative<StepDone>(event)) run_->metrics().append(event_json(event));
    if (control_.monitor) control_.monitor->receive(event);
  }

  template <class Step>
  void run_epoch(const Step& step, int epoch) {
    if (job_.training.shuffle == "every-epoch" || (job_.training.shuffle == "once" && epoch == 1))
      queue_.shuffle();
    else
      queue_.reset();
    double sum = 0;
    int64_t steps = 0;
    Weights weights = state_;
    while (queue_.has_data() && !stopped_) {
      const float rate = schedule_.rate(result_.iterations, epoch);
      const double loss = run_step(step, weights, rate);
      sum += loss;
      ++steps, ++result_.iterations;
      tell(StepDone{epoch, result_.iterations, loss, rate, seconds_since(start_)});
      if (!std::isfinite(loss)) return end("the loss is not finite");
      if (control_.stop && control_.stop()) end("stopped");
    }
    evaluate();
    state_ = weights;
    result_.epochs = epoch;
    tell(EpochDone{epoch, result_.iterations, sum / static_cast<double>(std::max<int64_t>(steps, 1)),
                   seconds_since(start_)});
    record(epoch);
    if (job_.training.validation) validate(epoch);
  }

  template <class Step>
  double run_step(const Step& step, Weights& weights, float rate) {
    const auto batch = queue_.next();
    Tree targets;
    for (size_t i = 0; i < network_.outputs.size(); ++i) targets[network_.outputs[i]] = batch[i + 1];
    const auto [value, gradients, moments] = step(weights.parameters, batch[0], targets, weights.state);
    weights.parameters = solver_.update(weights.parameters, gradients, rate);
    if (!moments.empty()) weights.state = update_statistics(weights.state, moments);
    return value.number();
  }

  void end(const char* reason) {
    stopped_ = true;
    result_.stop_reason = reason;
  }

  void validate(int epoch) {
    const auto found =
        evaluate_network(network_, state_.parameters, state_.state, data_, job_.training.mini_batch_size);
    validated_ = epoch;
    result_.loss = found.loss, result_.metrics = found.metrics;
    tell(ValidationDone{epoch, result_.iterations, found.loss, seconds_since(start_), found.metrics});
  }

  void record(int epoch) {
    if (!run_) return;
    EpochFingerprints prints{epoch, 0, {}};
    uint64_t sum = 0;
    for (const auto& [name, tensor] : named_weights(state_.parameters, state_.state))
      sum += prints.tensors[name] = fingerprint_value(name, tensor);
    prints.all = mix64(sum);
    run_->record(prints);
  }

  void finish() {
    if (validated_ != result_.epochs || validated_ == 0) {
      const auto found =
          evaluate_network(network_, state_.parameters, state_.state, data_, job_.training.mini_batch_size);
      result_.loss = found.loss, result_.metrics = found.metrics;
    }
    result_.fingerprint = fingerprint(state_.parameters, state_.state);
    tell(RunFinished{result_.epochs, result_.iterations, result_.loss, result_.seconds, result_.metrics,
                     result_.stop_reason, result_.fingerprint});
    if (run_) run_->write_weights(to_safetensors(state_.parameters, state_.state));
  }

  const Job& job_;
  const TrainJobControl& control_;
  nn::Network network_;
  JobData data_;
  MiniBatchQueue queue_;
  Weights state_;  // of the last complete epoch
  Schedule schedule_;
  Solver solver_;
  std::optional<RunFolder> run_;
  TrainJobResult result_;
  std::chrono::steady_clock::time_point start_;
  bool stopped_ = false;
  int validated_ = 0;
};

// Sets what a job says about threads and speed, and puts the former state back.
class JobEnvironment {
 public:
  explicit JobEnvironment(const Job& job) : threads_(thread_count()), cache_(plan_cache_on()) {
    find_device(job.device);
    if (job.threads > 0) set_thread_count(job.threads);
    if (job.training.acceleration == "plain") set_plan_cache(false);
  }
  ~JobEnvironment() {
    set_thread_count(threads_);
    set_plan_cache(cache_);
  }

 private:
  int threads_;
  bool cache_;
};

}  // namespace

TrainJobResult train_job(const Job& job, const TrainJobControl& control) {
  const FloatingPointScope floating_point;
  check_job(job);
  const JobEnvironment environment(job);
  return Training(job, control).run();
}

std::string describe_plan(const Job& job) {
  const FloatingPointScope floating_point;
  check_job(job);
  const JobEnvironment environment(job);
  const nn::Network network = make_job_network(job);
  const JobData data = load_job_data(job, network);
  MiniBatchQueue queue(data.train, {.mini_batch_size = job.training.mini_batch_size,
                                    .formats = data.formats,
                                    .outputs = static_cast<int>(data.formats.size())});
  const auto batch = queue.next();
  Tree targets;
  for (size_t i = 0; i < network.outputs.size(); ++i) targets[network.outputs[i]] = batch[i + 1];
  const auto step = value_and_grad(loss_of(network), {.shards = job.training.shards, .seed = job.seed});
  Solver solver(job.training);
  Tree parameters = network.parameters, state = network.state;
  evaluate();
  // Two steps: the second holds the update of the first, as all later ones do.
  for (int i = 0; i < 2; ++i) {
    const auto [value, gradients, moments] = step(parameters, batch[0], targets, state);
    parameters = solver.update(parameters, gradients, static_cast<float>(job.training.initial_learn_rate));
    if (!moments.empty()) state = update_statistics(state, moments);
  }
  const std::string text = last_plan()->text();
  evaluate();
  return text;
}

}  // namespace retrace
