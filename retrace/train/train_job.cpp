#include "retrace/train/train_job.h"

#include <fmt/format.h>

#include <chrono>
#include <cmath>
#include <optional>

#include "retrace/base/fp_environment.h"
#include "retrace/base/hash.h"
#include "retrace/data/mini_batch_queue.h"
#include "retrace/device/cpu/threads.h"
#include "retrace/monitor/json_lines.h"
#include "retrace/plan/pass_changes.h"
#include "retrace/run/plan_cache.h"
#include "retrace/tensor/fingerprint.h"
#include "retrace/train/evaluate_network.h"
#include "retrace/train/job_data.h"
#include "retrace/train/job_digest.h"
#include "retrace/train/run_writer.h"
#include "retrace/train/training_step.h"
#include "retrace/train/weights.h"

namespace retrace {
namespace {

constexpr const char* kStopped = "stopped";
constexpr const char* kNotFinite = "the loss is not finite";

double seconds_since(std::chrono::steady_clock::time_point start) {
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
}

bool is_accelerated(const Job& job) { return job.training.acceleration == "accelerated"; }

AcceleratedFunction<TrainingStep> step_of(const Job& job, const nn::Network& network, Worker* worker = nullptr) {
  return accelerate(training_step(job, network, worker), {.seed = job.seed, .enabled = is_accelerated(job)});
}

// One worker's part; data are shared by the workers of a process.
class Training {
 public:
  Training(const Job& job, const TrainJobControl& control, const JobData& data, Worker& worker)
      : job_(job),
        control_(control),
        worker_(worker),
        device_(find_device(job.device, worker.index(), {})),
        network_(make_job_network(job)),
        data_(data),
        queue_(shared(MiniBatchQueue(data_.train, queue_options()))),
        step_(step_of(job, network_, &worker)),
        learn_rate_(learn_rate(job.training)),
        evaluate_(network_, data_, job.training.mini_batch_size, is_accelerated(job), device_),
        state_(initial_training_state(network_, job.training).to(device_)) {}

  std::string position() const {
    return fmt::format("epoch {}, iteration {}", result_.epochs + 1, result_.iterations + 1);
  }

  TrainJobResult run() {
    result_.job = job_.name;
    result_.device = device_.name();
    result_.workers = worker_.size();
    result_.threads = thread_count();
    result_.stop_reason = "max epochs completed";
    start_ = std::chrono::steady_clock::now();
    try {
      for (int epoch = 1; epoch <= job_.training.max_epochs && !stopped_; ++epoch) run_epoch(epoch);
      result_.seconds = seconds_since(start_);
      finish();
    } catch (...) {
      if (run_) run_->give_up();
      throw;
    }
    return result_;
  }

 private:
  MiniBatchQueue shared(MiniBatchQueue whole) const {
    return worker_.size() == 1 ? whole : whole.share(worker_, job_.training.shards);
  }
  bool is_first() const { return worker_.index() == 0; }

  MiniBatchQueueOptions queue_options() const {
    return {.mini_batch_size = job_.training.mini_batch_size,
            .partial = job_.training.partial_mini_batch == "keep" ? Partial::keep : Partial::discard,
            .formats = data_.formats,
            .devices = {job_.device},
            .outputs = static_cast<int>(data_.formats.size()),
            .seed = job_.seed};
  }

  int64_t count_parameters() const {
    int64_t count = 0;
    for (const auto& tensor : leaf_tensors(state_.parameters)) count += tensor.size();
    return count;
  }

  // After the first step: what cannot be trained leaves no folder.
  void open_run() {
    if (control_.write_run && is_first()) {
      run_.emplace(RunFolder::create(job_, current_versions(result_.device), control_.out));
      result_.run_dir = run_->path();
    }
    tell(RunStarted{job_.name, result_.device, result_.run_dir.string(), worker_.size(), thread_count(),
                    job_.training.max_epochs, queue_.mini_batches(), count_parameters()});
  }

  void tell(const Event& event) {
    if (run_) run_->check();
    if (run_ && !std::holds_alternative<StepDone>(event)) run_->event(event_json(event));
    if (control_.monitor && is_first()) control_.monitor->receive(event);
  }

  void run_epoch(int epoch) {
    if (job_.training.shuffle == "every-epoch" || (job_.training.shuffle == "once" && epoch == 1))
      queue_.shuffle();
    else
      queue_.reset();
    double sum = 0;
    int64_t steps = 0;
    const int64_t iterations = queue_.mini_batches() * job_.training.max_epochs;
    TrainingState state = state_;
    while (queue_.has_data() && !stopped_) {
      const auto rate = static_cast<float>(learn_rate_({result_.iterations, iterations, epoch}));
      const double loss = run_step(state, rate);
      if (result_.iterations == 0) open_run();
      sum += loss;
      ++steps, ++result_.iterations;
      tell(StepDone{epoch, result_.iterations, loss, rate, seconds_since(start_)});
      if (!std::isfinite(loss)) return end(kNotFinite);
      if (control_.stop && result_.iterations < iterations && worker_.any(control_.stop())) end(kStopped);
    }
    state_ = state;
    result_.epochs = epoch;
    tell(EpochDone{epoch, result_.iterations, sum / static_cast<double>(std::max<int64_t>(steps, 1)),
                   seconds_since(start_), !queue_.has_data()});
    record(epoch);
    if (job_.training.validation && !stopped_) validate(epoch);
  }

  double run_step(TrainingState& state, float rate) {
    const auto batch = queue_.next();
    StepResult result = step_(std::move(state), batch[0], targets_of(network_, data_, batch), rate);
    state = std::move(result.after);
    return result.loss.number();
  }

  void end(const char* reason) {
    stopped_ = true;
    result_.stop_reason = reason;
  }

  // The test set; false if the run is stopped meanwhile.
  bool measure() {
    const auto found = evaluate_(state_.parameters, state_.state, worker_, control_.stop);
    result_.loss = found.loss, result_.metrics = found.metrics;
    measured_ = true;
    return found.complete;
  }

  void validate(int epoch) {
    if (measure())
      tell(ValidationDone{epoch, result_.iterations, result_.loss, seconds_since(start_), result_.metrics});
    else if (epoch < job_.training.max_epochs)
      end(kStopped);
  }

  void record(int epoch) {
    measured_ = false;
    if (!run_) return;
    EpochFingerprints prints{epoch, 0, {}};
    uint64_t sum = 0;
    const auto weights = named_weights(state_.parameters, state_.state);
    const auto values = fingerprint_values(weights);
    for (size_t i = 0; i < weights.size(); ++i) sum += prints.tensors[weights[i].first] = values[i];
    prints.all = mix64(sum);
    if (queue_.has_data()) prints.stopped_after = result_.iterations;
    run_->epoch(std::move(prints), to_safetensors(state_.parameters, state_.state));
  }

  void finish() {
    if (!measured_) {
      result_.loss = std::nan(""), result_.metrics.clear();
      if (result_.epochs > 0 && result_.stop_reason != kStopped) measure();
    }
    result_.fingerprint = fingerprint(state_.parameters, state_.state);
    if (run_) run_->flush();
    tell(RunFinished{result_.epochs, result_.iterations, result_.loss, result_.seconds, result_.metrics,
                     result_.stop_reason, result_.fingerprint});
    if (run_) run_->flush();
    if (run_ && result_.epochs == 0) run_->give_up(), result_.run_dir.clear();
  }

  const Job& job_;
  const TrainJobControl& control_;
  Worker& worker_;
  Device& device_;
  nn::Network network_;
  const JobData& data_;
  MiniBatchQueue queue_;
  const AcceleratedFunction<TrainingStep> step_;
  const LearnRate learn_rate_;
  const NetworkEvaluator evaluate_;
  TrainingState state_;  // of the last complete epoch
  std::optional<RunWriter> run_;
  TrainJobResult result_;
  std::chrono::steady_clock::time_point start_;
  bool stopped_ = false;
  bool measured_ = false;  // the test set, after the last epoch so far
};

// Sets what a job says about threads and speed, and puts the former state back.
class JobEnvironment {
 public:
  explicit JobEnvironment(const Job& job) : threads_(thread_count()), cache_(plan_cache_on()) {
    find_device(job.device, 0, {});  // the job names it, not a line of a program
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

constexpr int kNoMemory = 128;  // the code of a tensor for which there is no memory

Error too_little_memory(const Job& job) {
  return Error(ErrorKind::unavailable, 424, "there is not enough memory for this job")
      .got(fmt::format("network.width = {}, training.mini_batch_size = {}", resolved(job).network.width.value(),
                       job.training.mini_batch_size))
      .help(
          "set a smaller network.width; if the intermediates of a step are what does not fit, a smaller "
          "training.mini_batch_size or RETRACE_MEMORY_LIMIT");
}

// f(), with a text of its own where the memory does not do.
template <class F>
auto with_enough_memory(const Job& job, const F& f) {
  try {
    return f();
  } catch (const std::bad_alloc&) {
    throw too_little_memory(job);
  } catch (const Error& error) {
    if (error.code() != kNoMemory) throw;
    throw too_little_memory(job);
  }
}

// A worker that is lost is named with the place in the training.
TrainJobResult run_training(const Job& job, const TrainJobControl& control, const JobData& data, Worker& worker) {
  Training training(job, control, data, worker);
  try {
    return training.run();
  } catch (Error& error) {
    if (error.kind() == ErrorKind::lost) error.in(training.position());
    throw;
  }
}

// What work() throws, of a process that is one of several: the others are told in spmd(). Else it is thrown.
template <class Work>
std::exception_ptr failure_here(const Pool& pool, const Work& work) {
  try {
    work();
  } catch (...) {
    if (pool.here().count == pool.size()) throw;
    return std::current_exception();
  }
  return nullptr;
}

}  // namespace

TrainJobResult train_job(const Job& job, const TrainJobControl& control) {
  const FloatingPointScope floating_point;
  check_job(job);
  Pool alone = Pool::local(1);
  Pool& pool = control.pool ? *control.pool : alone;
  std::optional<JobEnvironment> environment;
  std::optional<JobData> data;
  const std::exception_ptr failure = failure_here(pool, [&] {
    environment.emplace(job);
    check_workers(pool.size(), job.training.shards);
    if (control.write_run && pool.is_first()) check_new_run(control.out);
    with_enough_memory(job, [&] { data = load_job_data(job, make_job_network(job)); });
  });
  return pool.spmd([&](Worker& worker) {
    if (failure) std::rethrow_exception(failure);
    worker.require_same("the job or its data", worker.size() > 1 ? job_digest(job, *data) : NamedValues());
    return with_enough_memory(job, [&] { return run_training(job, control, *data, worker); });
  })[0];
}

std::string describe_plan(const Job& job, PlanDetails details) {
  const FloatingPointScope floating_point;
  check_job(job);
  const JobEnvironment environment(job);
  const nn::Network network = make_job_network(job);
  const JobData data = load_job_data(job, network);
  MiniBatchQueue queue(data.train, {.mini_batch_size = job.training.mini_batch_size,
                                    .formats = data.formats,
                                    .devices = {job.device},
                                    .outputs = static_cast<int>(data.formats.size())});
  const auto batch = queue.next();
  const auto step = step_of(job, network);
  const auto state = initial_training_state(network, job.training).to(find_device(job.device, 0, {}));
  const auto targets = targets_of(network, data, batch);
  evaluate();  // plans of their own
  const PassChanges changes;
  step(state, batch[0], targets, static_cast<float>(learn_rate(job.training)({})));
  const auto plan = last_plan();
  if (!details.passes && !details.why) return plan->text();
  return plan->summary() + (details.passes ? "\n" + changes.text() : "") + (details.why ? plan->why() : "");
}

}  // namespace retrace
