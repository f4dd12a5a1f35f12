#include "retrace/train/training_run.h"

#include <algorithm>
#include <optional>

#include "retrace/base/fp_environment.h"
#include "retrace/device/cpu/fast_mode.h"
#include "retrace/distributed/courier.h"
#include "retrace/ops/all_reduce/portable.h"
#include "retrace/train/automatic_workers.h"
#include "retrace/train/checkpoint_files.h"
#include "retrace/train/data_files.h"
#include "retrace/train/run_folder.h"
#include "retrace/train/sample_loaders.h"
#include "retrace/train/state_to_resume.h"

namespace retrace {
namespace {

constexpr int kNoMemory = 128;  // the code of a tensor for which there is no memory

Error too_little_memory(const TrainingCall& call) {
  return Error(ErrorKind::unavailable, 424, "there is not enough memory for this training")
      .got(call.sizes)
      .help(
          "train a smaller network; if the intermediates of a step are what does not fit, a smaller "
          "training.mini_batch_size or RETRACE_MEMORY_LIMIT");
}

// f(), with a text of its own where the memory does not do.
template <class F>
auto with_enough_memory(const TrainingCall& call, const F& f) {
  try {
    return f();
  } catch (const std::bad_alloc&) {
    throw too_little_memory(call);
  } catch (const Error& error) {
    if (error.code() != kNoMemory) throw;
    throw too_little_memory(call);
  }
}

// The state in the newest checkpoint of a run that is not after an iteration. Nothing where there is none.
std::optional<RunState> state_to_begin(const TrainingTask& task, const TrainJobControl::Begin& begin,
                                       const RunState& like, const Worker& worker) {
  const auto path = worker.index() == 0 ? checkpoint_before(begin.run, begin.most) : std::nullopt;
  const std::string bytes = worker.broadcast(path ? read_checkpoint(*path) : "");
  if (bytes.empty()) return std::nullopt;
  return checkpoint_state(bytes, like, checkpoint_owner(task), path.value_or(begin.run));
}

// A worker that is lost is named with the place in the training.
TrainJobResult train(const TrainingTask& task, const TrainJobControl& control, Worker& worker) {
  Training training(task, control, worker);
  try {
    if (!control.resume.empty())
      training.restore(state_to_resume(task, control.resume, training.run(), training.state(), worker));
    if (control.begin)
      if (const auto state = state_to_begin(task, *control.begin, training.state(), worker)) training.restore(*state);
    while (!training.done()) training.step();
    return training.finish();
  } catch (Error& error) {
    training.give_up();
    if (error.kind() == ErrorKind::lost) error.in(training.position());
    throw;
  } catch (...) {
    training.give_up();
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

// What ranks that made samples get to know of the result.
TrainJobResult shared_result(const Worker& worker, TrainJobResult result) {
  const auto numbers = worker.broadcast(std::vector<double>{
      static_cast<double>(result.workers), static_cast<double>(result.threads), static_cast<double>(result.epochs),
      static_cast<double>(result.iterations), static_cast<double>(result.output_iteration), result.seconds, result.loss,
      static_cast<double>(result.checkpoint)});
  const std::string texts[] = {worker.broadcast(result.job),         worker.broadcast(result.device),
                               worker.broadcast(result.fingerprint), worker.broadcast(result.run_dir.string()),
                               worker.broadcast(result.stop_reason), worker.broadcast(result.cause.found),
                               worker.broadcast(result.cause.help)};
  const auto parameters = worker.broadcast(result.weights.parameters), state = worker.broadcast(result.weights.state);
  std::vector<double> values;
  for (const auto& metric : result.metrics) values.push_back(metric.second);
  values = worker.broadcast(values);
  MetricValues metrics;
  for (size_t i = 0; i < values.size(); ++i)
    metrics.emplace_back(worker.broadcast(i < result.metrics.size() ? result.metrics[i].first : ""), values[i]);
  if (!result.stop_reason.empty()) return result;  // it was one that computed
  return {.job = texts[0],
          .device = texts[1],
          .workers = static_cast<int>(numbers[0]),
          .threads = static_cast<int>(numbers[1]),
          .epochs = static_cast<int>(numbers[2]),
          .iterations = static_cast<int64_t>(numbers[3]),
          .output_iteration = static_cast<int64_t>(numbers[4]),
          .seconds = numbers[5],
          .loss = numbers[6],
          .metrics = std::move(metrics),
          .fingerprint = texts[2],
          .mode = mode_name(mode_of_thread()),
          .run_dir = texts[3],
          .checkpoint = static_cast<int64_t>(numbers[7]),
          .weights = {parameters, state},
          .stop_reason = texts[4],
          .cause = {texts[5], texts[6]}};
}

// Ranks: the first ones compute, and the others make samples for them.
TrainJobResult train_with_loaders(const TrainingTask& task, TrainJobControl control, Worker& worker, int computing) {
  Group& all = worker.group();
  const auto part = std::make_shared<Courier>(all.first(computing));
  TrainJobResult result;
  if (worker.index() < computing) {
    const CourierScope current(computing > 1 ? part.get() : nullptr);
    const auto loaders = loaders_of(worker.index(), computing, worker.size());
    TrainingTask own = task;
    // The worker keeps the group of all.
    own.data.train = loaded_store(task.data.train, std::shared_ptr<Group>(std::shared_ptr<Group>(), &all), loaders);
    control.loader_threads = threads_for_loaders(loaders.size());
    Worker one(part);
    result = train(own, control, one);
    one.barrier();
    if (one.index() == 0) end_loaders(all, computing);
  } else {
    serve_samples(*task.data.train.source(), all);
  }
  all.join(computing);
  return shared_result(worker, std::move(result));
}

// How many workers of the pool compute.
int computing_workers(const Pool& pool, const TrainingCall& call) {
  if (call.workers != 0) return pool.size();
  return static_cast<int>(std::min<int64_t>(pool.size(), call.shards));
}

TrainJobResult train_on(Pool& pool, const TrainingCall& call, const TrainJobControl& control) {
  JobSettings settings = call.settings;
  std::optional<JobScope> scope;
  std::optional<TrainingTask> task;
  const std::exception_ptr failure = failure_here(pool, [&] {
    scope.emplace(settings);
    settings.threads = 0;             // the pool gives its workers as many as this thread has, or as it says itself
    find_device(call.device, 0, {});  // an option names it, not a line of a program
    check_workers(computing_workers(pool, call), call.shards, "training.shards");
    if (pool.is_first() && !control.resume.empty())
      check_resumable(control.resume);
    else if (pool.is_first() && control.write_run)
      check_new_run(control.out);
    with_enough_memory(call, [&] { task = call.make_task(); });
    if (pool.is_first() && !control.resume.empty())
      check_data_files(control.resume, data_files(*task), DataCheck::changed);
  });
  return pool.spmd([&](Worker& worker) {
    if (failure) std::rethrow_exception(failure);
    const JobScope worker_scope(settings);
    worker.require_same("the job or its data", worker.size() > 1 ? digest(*task) : NamedValues());
    return with_enough_memory(call, [&] {
      const int computing = computing_workers(pool, call);
      return computing < worker.size() ? train_with_loaders(*task, control, worker, computing)
                                       : train(*task, control, worker);
    });
  })[0];
}

}  // namespace

Pool own_pool(const TrainingCall& call, const PoolOptions& options, Place place) {
  const int workers =
      call.workers > 0 ? call.workers : automatic_workers(call.device, call.shards, call.settings.threads).workers;
  return Pool::local(workers, options, place);
}

TrainJobResult run_training(Pool& pool, const TrainingCall& call, const TrainJobControl& control) {
  const FloatingPointScope floating_point;
  if (call.workers != 0 || pool.here().count != pool.size()) return train_on(pool, call, control);
  const WorkerPlan plan = automatic_workers(call.device, call.shards, call.settings.threads, pool.size());
  TrainJobControl planned = control;
  planned.loader_threads = loader_threads(plan);
  if (plan.workers == pool.size()) return train_on(pool, call, planned);
  Pool computing = Pool::local(plan.workers, pool.options(), {});
  return train_on(computing, call, planned);
}

}  // namespace retrace
