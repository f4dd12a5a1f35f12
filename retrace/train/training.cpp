#include "retrace/train/training.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <utility>

#include "retrace/device/cpu/fast_mode.h"
#include "retrace/device/cpu/threads.h"
#include "retrace/optim/regularize.h"
#include "retrace/run/op_watch.h"
#include "retrace/tensor/fingerprint.h"
#include "retrace/train/checkpoint.h"
#include "retrace/train/full_batch_step.h"
#include "retrace/train/loss_cause.h"
#include "retrace/train/population_statistics.h"
#include "retrace/train/stop_reason.h"

namespace retrace {
namespace {

bool is_accelerated(const TrainingOptions& options) { return options.acceleration == "accelerated"; }

// This worker's share of the training data.
MiniBatchQueue training_queue(const TrainingTask& task, const Worker& worker, int loader_threads) {
  const TrainingOptions& options = task.training;
  const bool loads = !options.loader_threads && !task.data.train.source()->is_in_memory();
  MiniBatchQueue whole(task.data.train,
                       {.mini_batch_size = options.mini_batch_size,
                        .partial_mini_batch = options.partial_mini_batch == "keep" ? Partial::keep : Partial::discard,
                        .buckets = options.buckets,
                        .formats = task.data.formats,
                        .devices = {task.device},
                        .outputs = static_cast<int64_t>(task.data.formats.size()),
                        .seed = task.seed,
                        .prefetch_threads = loads ? loader_threads : options.loader_threads});
  return worker.size() == 1 ? whole : whole.share(worker, options.shards);
}

}  // namespace

Training::Training(const TrainingTask& task, TrainJobControl control, Worker& worker)
    : task_(task),
      options_(task.training),
      control_(std::move(control)),
      worker_(worker),
      device_(find_device(task.device, worker.index(), {})),
      network_(task.network),
      queue_(training_queue(task, worker, control_.loader_threads)),
      step_(task, worker),
      average_(accelerate<Average>([](const Tree& average, const Tree& parameters,
                                      const Operand& share) { return average_weights(average, parameters, share); },
                                   {.enabled = is_accelerated(options_)})),
      evaluate_(network_, task.data, options_.mini_batch_size, is_accelerated(options_), device_,
                {.names = options_.metrics, .options = options_.options, .own = task.own_metrics}),
      validation_(task),
      report_(task, control_, worker.index() == 0),
      keeper_(copy_keeper(control_, worker)) {
  if (control_.resume.empty()) remove_copies(copies_folder(keeper_.run), 0);
  state_.now = initial_training_state(network_, options_).to(device_);
  if (averages()) state_.average = state_.now.parameters;
  state_.epoch_start = weights();
  if (validation_.keeps_best()) state_.best = weights();
}

void Training::restore(const RunState& state) {
  const auto check = [](const Tree& own, const Tree& other) {
    check_same_structure(own, other, "the state of a run and its job");
  };
  check(state_.now.parameters, state.now.parameters);
  check(state_.now.state, state.now.state);
  check(state_.now.solver, state.now.solver);
  check(state_.best.parameters, state.best.parameters);
  check(state_.average, state.average);
  queue_.restore(state.position);
  step_.set_calls(state.calls);
  state_ = state;
  state_.now = state.now.to(device_);
  state_.epoch_start = {state.epoch_start.parameters.to(device_), state.epoch_start.state.to(device_)};
  state_.average = state.average.to(device_);
  state_.best = {state.best.parameters.to(device_), state.best.state.to(device_)};
  restored_ = state.iterations;
  remove_copies(copies_folder(keeper_.run), restored_);
  if (validation_.is_over(state_)) stop_reason_ = kNothingBetter;
  if (!state_.validation_due && stop_reason_.empty()) stop_reason_ = end_reason();
}

// Of the whole training, unless something ends it before.
int64_t Training::all_iterations() const {
  const int64_t all = iterations_in_epoch() * options_.max_epochs;
  return options_.max_iterations > 0 ? std::min(all, options_.max_iterations) : all;
}

bool Training::at_max_iterations() const {
  const bool completes = state_.epoch_steps > 0 && !queue_.has_data();  // an epoch that is not recorded yet
  return state_.iterations >= all_iterations() && state_.epochs + completes < options_.max_epochs;
}

std::string Training::end_reason() const {
  const std::string end = end_of_solver(options_, state_.now);
  return end.empty() && at_max_iterations() ? kMaxIterations : end;
}

std::string Training::position() const {
  return fmt::format("epoch {}, iteration {}", state_.epochs + 1, state_.iterations + 1);
}

void Training::step() {
  if (restored_ > 0 && !report_.is_open()) report_.open(started(), state_.epochs);
  if (state_.validation_due) validate();
  if (stop_reason_.empty() && restored_ > 0) stop_reason_ = end_reason();
  if (!stop_reason_.empty()) {
    if (state_.epoch_steps > 0) end_epoch();
    return leave_checkpoint();
  }
  if (state_.epoch_steps == 0) begin_epoch();
  const int64_t iterations = all_iterations();
  const auto rate = static_cast<float>(task_.learn_rate({state_.iterations, iterations, epoch()}));
  std::optional<Step> made;
  try {
    made.emplace(update(rate));
  } catch (...) {
    if (!settle()) return;  // the training had ended before
    throw;
  }
  if (!settle()) return;
  waiting_ = std::move(made);
  const bool validates = validation_.after_iteration(state_.iterations, iterations);
  const std::string end = end_reason();
  const bool enough = !end.empty();
  if (must_settle(!queue_.has_data() || validates || enough) && !settle()) return;
  if (control_.stop && state_.iterations < iterations && worker_.any(control_.stop())) {
    if (!settle()) return;
    stop_reason_ = kStopped;
  }
  const bool ended = !queue_.has_data() || !stop_reason_.empty();
  if (ended) end_epoch();
  if (validates || (enough && validation_.at_end())) state_.validation_due = 1;
  if (state_.validation_due && stop_reason_.empty()) validate();
  if (enough && stop_reason_.empty()) stop_reason_ = end;
  if (!ended && !stop_reason_.empty()) end_epoch();
  leave_checkpoint();
}

// Not on a device, of a worker that is alone, after a step within an epoch that nothing but its loss is told of. The
// first step is told before the next one is tried: what cannot be trained leaves no folder.
bool Training::must_settle(bool looks) const {
  return looks || device_.id() == cpu_device().id() || worker_.size() > 1 || waiting_->prints || !report_.is_open() ||
         options_.snapshot_iterations == 1 || control_.watched || control_.on_step || copy_due();
}

bool Training::settle() {
  if (!waiting_) return true;
  auto step = std::exchange(waiting_, std::nullopt);
  const double loss = step->loss.number();
  state_.loss_sum += loss;
  if (options_.snapshot_iterations == 1) report_.settle();  // no step but this one is told and can be lost
  if (!report_.is_open()) report_.open(started(), 0);
  report_.tell(StepDone{step->epoch, step->iteration, loss, step->rate, report_.seconds()});
  log_step(*step, loss);
  if (std::isfinite(loss)) return true;
  state_.epoch_steps -= state_.iterations - step->iteration;
  state_.iterations = step->iteration;
  stop_reason_ = kNotFinite;
  if (worker_.index() == 0) cause_ = cause_of_loss(task_, queue_, step->first, step->next, step->rate);
  return false;
}

// Of the step that was made.
bool Training::wants_prints() const {
  const int64_t every = options_.fingerprint_iterations;
  return report_.logs_steps() && (!queue_.has_data() || (every > 0 && state_.iterations % every == 0));
}

void Training::log_step(const Step& step, double loss) {
  if (!report_.logs_steps()) return;
  StepRecord record{step.iteration, step.epoch, queue_.digest(step.first, step.next), loss, step.rate, {}};
  if (step.prints) {
    const Tree tensors = changed_by_steps(state_);
    evaluate(tensors);
    const auto named = leaves(tensors);
    const auto values = fingerprint_values(named);
    for (size_t i = 0; i < named.size(); ++i) record.tensors[named[i].first] = values[i];
  }
  report_.step(record);
}

// The tensors are values: the next steps leave them as they are, and take other memory where they would write into
// these. Those of another device are copied here.
void Training::leave_checkpoint() {
  const bool stops = !stop_reason_.empty();
  if (!stops && copy_due()) leave_copy();
  const Due due = checkpoint_due(stops);
  if (!report_.writes() || (due == Due::nothing && !stops)) return;
  if (!settle()) return;
  if (owner_.empty()) owner_ = checkpoint_owner(task_);
  Tree state = to_tree(state_).to(cpu_device());
  evaluate(state);
  const bool snapshot = due == Due::snapshot && !stops;
  report_.checkpoint({state_.iterations, options_.checkpoints_kept, snapshot, std::move(state), owner_});
}

// Where a host keeps copies, the first snapshot is a checkpoint: what outlives the host of worker 0 by itself.
Due Training::checkpoint_due(bool stops) {
  const Due due = report_.due(state_.iterations, state_.epoch_steps == 0 ? state_.epochs : 0);
  const bool first = due == Due::snapshot && keeper_.worker >= 0 && report_.checkpointed() == 0;
  return first && !stops ? Due::checkpoint : due;
}

bool Training::copy_due() const {
  const int64_t every = options_.snapshot_iterations;
  return keeper_.worker == worker_.index() && every > 0 && state_.iterations % every == 0;
}

void Training::leave_copy() {
  if (!copies_) {
    const auto folder = copies_folder(keeper_.run);
    if (folder.empty()) return;
    copies_.emplace(folder);
    owner_ = checkpoint_owner(task_);
  }
  Tree state = to_tree(state_).to(cpu_device());
  evaluate(state);
  copies_->keep(state_.iterations, std::move(state), owner_);
}

void Training::begin_epoch() {
  const std::string& shuffle = options_.shuffle;
  if (shuffle == "every-epoch" || (shuffle == "once" && state_.epochs == 0))
    queue_.shuffle();
  else
    queue_.reset();
}

// Of the next iteration; null: nobody looks at it.
OpWatch* Training::watch() const {
  if (!control_.watched || worker_.index() != 0) return nullptr;
  const auto found = control_.watched->find(state_.iterations + 1);
  if (found == control_.watched->end()) return nullptr;
  found->second.names = step_.input_names(state_.now);
  return &found->second;
}

Training::Step Training::update(float rate) {
  const int64_t first = queue_.position().next;
  StepResult result = [&] {
    const OpWatchScope watched(watch());
    return step_(std::move(state_.now), queue_, rate);
  }();
  state_.now = std::move(result.after);
  LateLoss loss(std::exchange(result.loss, Tensor()));
  ++state_.epoch_steps;
  ++state_.iterations;
  if (averages()) {
    const double share = std::max(1 - options_.average_decay, 1 / static_cast<double>(state_.iterations));
    state_.average = average_(std::move(state_.average), state_.now.parameters, static_cast<float>(share));
  }
  state_.position = queue_.position();
  state_.calls = step_.calls();
  score_.reset();
  return {state_.iterations, epoch(), first, state_.position.next, rate, wants_prints(), std::move(loss)};
}

void Training::end_epoch() {
  const int ended = epoch();
  const bool complete = !queue_.has_data();
  report_.tell(EpochDone{ended, state_.iterations, state_.loss_sum / static_cast<double>(state_.epoch_steps),
                         report_.seconds(), complete});
  report_.epoch(ended, complete ? 0 : state_.iterations, weights());
  if (complete) {
    ++state_.epochs;
    state_.epoch_steps = 0;
    state_.loss_sum = 0;
    state_.epoch_start = weights();
    state_.validation_due = validation_.after_epoch(ended);
  }
}

// The test set; false if the run is stopped meanwhile.
bool Training::measure(const NetworkWeights& weights) {
  score_ = evaluate_(weights.parameters, weights.state, worker_, control_.stop);
  return score_->complete;
}

// Of the weights after the last step.
void Training::validate() {
  if (measure(weights())) {
    state_.validation_due = 0;
    const auto within = state_.epochs + (state_.epoch_steps > 0 ? 1 : 0);
    report_.tell(ValidationDone{static_cast<int>(within), state_.iterations, score_->loss, report_.seconds(),
                                score_->metrics, score_->tables});
    validation_.judge(state_, *score_, weights());
    if (validation_.is_over(state_)) stop_reason_ = kNothingBetter;
  } else if (state_.epochs < options_.max_epochs) {
    stop_reason_ = kStopped;
  }
}

RunStarted Training::started() const {
  int64_t parameters = 0, samples = task_.data.train.size();
  if (options_.partial_mini_batch == "discard") samples = queue_.mini_batches() * options_.mini_batch_size;
  for (const auto& tensor : leaf_tensors(state_.now.parameters)) parameters += tensor.size();
  const int64_t all = all_iterations(), in_epoch = std::min(iterations_in_epoch(), all);
  if (in_epoch < iterations_in_epoch()) samples = in_epoch * options_.accumulate * options_.mini_batch_size;
  return {task_.name,
          device_.name(),
          "",
          worker_.size(),
          thread_count(),
          (all + in_epoch - 1) / in_epoch,
          in_epoch,
          parameters,
          restored_,
          samples,
          mode_name(mode_of_thread())};
}

std::optional<Tree> Training::population_state(const NetworkWeights& weights) {
  const auto moments_of = accelerate(moments_step(options_, task_.seed, network_, &worker_),
                                     {.seed = task_.seed, .enabled = is_accelerated(options_)});
  MiniBatchQueue queue = training_queue(task_, worker_, control_.loader_threads);
  queue.reset();  // in the order of the store, with what transforms draw in the first epoch
  PopulationMoments all;
  while (queue.has_data()) {
    if (control_.stop && worker_.any(control_.stop())) return {};
    const auto batch = queue.next(Place());
    all.add(moments_of(weights.parameters, weights.state, batch[0], targets_of(network_, task_.data, batch)).moments);
    if (all.empty()) break;  // there are no batch norms
  }
  return all.statistics(weights.state);
}

NetworkWeights Training::result_weights(TrainJobResult& result) {
  const bool finite = stop_reason_ != kNotFinite;
  NetworkWeights left = finite ? weights() : state_.epoch_start;
  result.output_iteration = finite ? state_.iterations : state_.epochs * iterations_in_epoch();
  if (stop_reason_ == kStopped || result.epochs == 0) return left;  // a run that is stopped goes on later
  const bool best = validation_.keeps_best() && state_.best_iteration > 0;
  if (best) {
    if (state_.best_iteration != state_.iterations) score_.reset();
    result.output_iteration = state_.best_iteration;
    left = state_.best;
  }
  const bool population = finite && options_.batch_norm_statistics == "population";
  if (population) {
    auto state = population_state(left);
    if (!state) {
      stop_reason_ = kStopped;
      leave_checkpoint();
      return result_weights(result);
    }
    left.state = std::move(*state);
    score_.reset();
  }
  if (best || population) report_.result(result.epochs, left);
  return left;
}

TrainJobResult Training::finish() {
  if (restored_ > 0 && !report_.is_open()) {
    report_.open(started(), state_.epochs);
    if (!stop_reason_.empty() && state_.epoch_steps > 0) end_epoch();
  }
  TrainJobResult result;
  result.job = task_.name;
  result.device = device_.name();
  result.workers = worker_.size();
  result.threads = thread_count();
  result.seconds = report_.seconds();
  result.iterations = state_.iterations;
  const bool within_epoch = stop_reason_ != kNotFinite && state_.epoch_steps > 0;
  result.epochs = static_cast<int>(state_.epochs) + within_epoch;
  NetworkWeights left = result_weights(result);
  result.stop_reason = stop_reason_.empty() ? "max epochs completed" : stop_reason_;
  result.cause = cause_;
  if (task_.tested && !score_ && result.epochs > 0 && stop_reason_ != kStopped) measure(left);
  result.loss = score_ ? score_->loss : std::nan("");
  if (score_) result.metrics = score_->metrics, result.tables = score_->tables;
  result.fingerprint = fingerprint(left.parameters, left.state);
  result.mode = mode_name(mode_of_thread());
  result.weights = left;
  report_.flush();
  report_.tell(RunFinished{result.epochs, result.iterations, result.loss, result.seconds, result.metrics,
                           result.stop_reason, result.fingerprint, result.tables, result.mode, cause_.found,
                           cause_.help});
  report_.flush();
  if (result.epochs == 0) {
    report_.discard();
  } else {
    result.run_dir = report_.run_dir();
    result.checkpoint = report_.checkpointed();
    report_.seal();
  }
  copies_.reset();
  remove_copies(copies_folder(keeper_.run), 0);
  return result;
}

}  // namespace retrace
