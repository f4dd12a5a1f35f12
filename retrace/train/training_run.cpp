#include "retrace/train/training_run.h"

#include <optional>

#include "retrace/base/fp_environment.h"
#include "retrace/train/checkpoint_files.h"
#include "retrace/train/data_files.h"
#include "retrace/train/run_folder.h"
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

}  // namespace

TrainJobResult run_training(Pool& pool, const TrainingCall& call, const TrainJobControl& control) {
  const FloatingPointScope floating_point;
  JobSettings settings = call.settings;
  std::optional<JobScope> scope;
  std::optional<TrainingTask> task;
  const std::exception_ptr failure = failure_here(pool, [&] {
    scope.emplace(settings);
    settings.threads = 0;             // the pool gives its workers as many as this thread has, or as it says itself
    find_device(call.device, 0, {});  // an option names it, not a line of a program
    check_workers(pool.size(), call.shards, "training.shards");
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
    return with_enough_memory(call, [&] { return train(*task, control, worker); });
  })[0];
}

}  // namespace retrace
