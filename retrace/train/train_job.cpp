#include "retrace/train/train_job.h"

#include <fmt/format.h>

#include <optional>

#include "retrace/base/fp_environment.h"
#include "retrace/train/checkpoint_files.h"
#include "retrace/train/job_data.h"
#include "retrace/train/job_digest.h"
#include "retrace/train/job_scope.h"
#include "retrace/train/run_folder.h"
#include "retrace/train/training.h"

namespace retrace {
namespace {

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

// The state in the newest checkpoint of the run, which worker 0 reads, on every worker.
RunState state_to_resume(const Job& job, const std::filesystem::path& run, const JobData& data, const RunState& like,
                         const Worker& worker) {
  const NamedValues owner = checkpoint_owner(job, data);
  const std::string bytes = worker.broadcast(worker.index() == 0 ? newest_checkpoint(run, like, owner) : "");
  return checkpoint_state(bytes, like, owner, run);
}

// A worker that is lost is named with the place in the training.
TrainJobResult run_training(const Job& job, const TrainJobControl& control, const JobData& data, Worker& worker) {
  Training training(job, control, data, worker);
  try {
    if (!control.resume.empty()) training.restore(state_to_resume(job, control.resume, data, training.state(), worker));
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

TrainJobResult train_job(const Job& job, const TrainJobControl& control) {
  const FloatingPointScope floating_point;
  check_job(job);
  Pool own = Pool::local(control.pool ? 1 : job.workers, {}, {});
  Pool& pool = control.pool ? *control.pool : own;
  JobSettings settings;
  std::optional<JobScope> scope;
  std::optional<JobData> data;
  const std::exception_ptr failure = failure_here(pool, [&] {
    settings = settings_of(job);
    scope.emplace(settings);
    settings.threads = 0;            // the pool gives its workers as many as this thread has, or as it says itself
    find_device(job.device, 0, {});  // the job names it, not a line of a program
    check_workers(pool.size(), job.training.shards, "training.shards");
    if (pool.is_first() && !control.resume.empty())
      check_resumable(control.resume);
    else if (pool.is_first() && control.write_run)
      check_new_run(control.out);
    with_enough_memory(job, [&] { data = load_job_data(job, make_job_network(job)); });
  });
  return pool.spmd([&](Worker& worker) {
    if (failure) std::rethrow_exception(failure);
    const JobScope worker_scope(settings);
    worker.require_same("the job or its data", worker.size() > 1 ? job_digest(job, *data) : NamedValues());
    return with_enough_memory(job, [&] { return run_training(job, control, *data, worker); });
  })[0];
}

}  // namespace retrace
