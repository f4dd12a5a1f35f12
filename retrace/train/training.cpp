#include "retrace/train/training.h"

#include <fmt/format.h>

#include <cmath>
#include <utility>

#include "retrace/device/cpu/threads.h"
#include "retrace/tensor/fingerprint.h"
#include "retrace/train/checkpoint.h"

namespace retrace {
namespace {

constexpr const char* kStopped = "stopped";
constexpr const char* kNotFinite = "the loss is not finite";

bool is_accelerated(const Job& job) { return job.training.acceleration == "accelerated"; }

// This worker's share of the training data.
MiniBatchQueue training_queue(const Job& job, const JobData& data, const Worker& worker) {
  MiniBatchQueue whole(
      data.train, {.mini_batch_size = job.training.mini_batch_size,
                   .partial_mini_batch = job.training.partial_mini_batch == "keep" ? Partial::keep : Partial::discard,
                   .formats = data.formats,
                   .devices = {job.device},
                   .outputs = static_cast<int64_t>(data.formats.size()),
                   .seed = job.seed});
  return worker.size() == 1 ? whole : whole.share(worker, job.training.shards);
}

}  // namespace

Training::Training(const Job& job, TrainJobControl control, const JobData& data, Worker& worker)
    : job_(job),
      control_(std::move(control)),
      worker_(worker),
      device_(find_device(job.device, worker.index(), {})),
      network_(make_job_network(job)),
      data_(data),
      queue_(training_queue(job, data, worker)),
      step_(accelerate(training_step(job, network_, &worker), {.seed = job.seed, .enabled = is_accelerated(job)})),
      learn_rate_(learn_rate(job.training)),
      evaluate_(network_, data_, job.training.mini_batch_size, is_accelerated(job), device_),
      report_(job, control_, worker.index() == 0) {
  state_.now = initial_training_state(network_, job.training).to(device_);
  state_.epoch_start = weights();
}

void Training::restore(const RunState& state) {
  const auto check = [](const Tree& own, const Tree& other) {
    check_same_structure(own, other, "the state of a run and its job");
  };
  check(state_.now.parameters, state.now.parameters);
  check(state_.now.state, state.now.state);
  check(state_.now.solver, state.now.solver);
  queue_.restore(state.position);
  step_.set_calls(state.calls);
  state_ = state;
  state_.now = state.now.to(device_);
  state_.epoch_start = {state.epoch_start.parameters.to(device_), state.epoch_start.state.to(device_)};
  restored_ = state.iterations;
}

std::string Training::position() const {
  return fmt::format("epoch {}, iteration {}", state_.epochs + 1, state_.iterations + 1);
}

void Training::step() {
  if (restored_ > 0 && !report_.is_open()) report_.open(started(), state_.epochs);
  if (state_.validation_due) validate(static_cast<int>(state_.epochs));
  if (!stop_reason_.empty()) return leave_checkpoint();
  if (state_.epoch_steps == 0) begin_epoch();
  const int64_t iterations = queue_.mini_batches() * job_.training.max_epochs;
  const auto rate = static_cast<float>(learn_rate_({state_.iterations, iterations, epoch()}));
  const double loss = update(rate);
  if (!report_.is_open()) report_.open(started(), 0);
  report_.tell(StepDone{epoch(), state_.iterations, loss, rate, report_.seconds()});
  if (!std::isfinite(loss)) {
    stop_reason_ = kNotFinite;
    return;
  }
  if (control_.stop && state_.iterations < iterations && worker_.any(control_.stop())) stop_reason_ = kStopped;
  if (!stop_reason_.empty() || !queue_.has_data()) end_epoch();
  leave_checkpoint();
}

// The tensors are values: the next steps leave them as they are, and take other memory where they would write into
// these. Those of another device are copied here.
void Training::leave_checkpoint() {
  const bool due = report_.checkpoint_due(state_.iterations, state_.epoch_steps == 0 ? state_.epochs : 0);
  if (!report_.writes() || (!due && stop_reason_.empty())) return;
  if (owner_.empty()) owner_ = checkpoint_owner(job_, data_);
  Tree state = to_tree(state_).to(cpu_device());
  evaluate(state);
  report_.checkpoint({state_.iterations, job_.training.checkpoints_kept, std::move(state), owner_});
}

void Training::begin_epoch() {
  const std::string& shuffle = job_.training.shuffle;
  if (shuffle == "every-epoch" || (shuffle == "once" && state_.epochs == 0))
    queue_.shuffle();
  else
    queue_.reset();
}

double Training::update(float rate) {
  const auto batch = queue_.next();
  StepResult result = step_(std::move(state_.now), batch[0], targets_of(network_, data_, batch), rate);
  state_.now = std::move(result.after);
  const double loss = result.loss.number();
  state_.loss_sum += loss;
  ++state_.epoch_steps;
  ++state_.iterations;
  state_.position = queue_.position();
  state_.calls = step_.calls();
  return loss;
}

void Training::end_epoch() {
  const int ended = epoch();
  const bool complete = !queue_.has_data();
  report_.tell(EpochDone{ended, state_.iterations, state_.loss_sum / static_cast<double>(state_.epoch_steps),
                         report_.seconds(), complete});
  score_.reset();
  report_.epoch(ended, complete ? 0 : state_.iterations, weights());
  if (complete) {
    ++state_.epochs;
    state_.epoch_steps = 0;
    state_.loss_sum = 0;
    state_.epoch_start = weights();
    state_.validation_due = is_validated(ended);
  }
  if (state_.validation_due && stop_reason_.empty()) validate(ended);
}

bool Training::is_validated(int epoch) const {
  const ValidationOptions& when = job_.validation;
  return when.data != "none" && (epoch % when.frequency == 0 || epoch == job_.training.max_epochs);
}

// The test set; false if the run is stopped meanwhile.
bool Training::measure(const NetworkWeights& weights) {
  score_ = evaluate_(weights.parameters, weights.state, worker_, control_.stop);
  return score_->complete;
}

void Training::validate(int epoch) {
  if (measure(weights())) {
    state_.validation_due = 0;
    report_.tell(ValidationDone{epoch, state_.iterations, score_->loss, report_.seconds(), score_->metrics});
  } else if (epoch < job_.training.max_epochs) {
    stop_reason_ = kStopped;
  }
}

RunStarted Training::started() const {
  int64_t parameters = 0;
  for (const auto& tensor : leaf_tensors(state_.now.parameters)) parameters += tensor.size();
  return {
      job_.name,  device_.name(), "", worker_.size(), thread_count(), job_.training.max_epochs, queue_.mini_batches(),
      parameters, restored_};
}

TrainJobResult Training::finish() {
  if (restored_ > 0 && !report_.is_open()) report_.open(started(), state_.epochs);
  TrainJobResult result;
  result.job = job_.name;
  result.device = device_.name();
  result.workers = worker_.size();
  result.threads = thread_count();
  result.stop_reason = stop_reason_.empty() ? "max epochs completed" : stop_reason_;
  result.seconds = report_.seconds();
  result.iterations = state_.iterations;
  const bool within_epoch = stop_reason_ == kStopped && state_.epoch_steps > 0;
  result.epochs = static_cast<int>(state_.epochs) + within_epoch;
  const NetworkWeights left = stop_reason_ == kNotFinite ? state_.epoch_start : weights();
  if (!score_ && result.epochs > 0 && stop_reason_ != kStopped) measure(left);
  result.loss = score_ ? score_->loss : std::nan("");
  if (score_) result.metrics = score_->metrics;
  result.fingerprint = fingerprint(left.parameters, left.state);
  report_.flush();
  report_.tell(RunFinished{result.epochs, result.iterations, result.loss, result.seconds, result.metrics,
                           result.stop_reason, result.fingerprint});
  report_.flush();
  if (result.epochs == 0) {
    report_.discard();
  } else {
    result.run_dir = report_.run_dir();
    result.checkpoint = report_.checkpointed();
  }
  return result;
}

}  // namespace retrace
