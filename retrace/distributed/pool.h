#pragma once
// Workers that run one program: threads of this process, or the ranks that mpirun or srun started.

#include <optional>
#include <string>
#include <type_traits>
#include <vector>

#include "retrace/base/function_ref.h"
#include "retrace/distributed/future.h"
#include "retrace/distributed/worker.h"

namespace retrace {

class TaskRunner;  // retrace/distributed/task_runner.h

// Options of a pool.
struct PoolOptions {
  int threads = 0;      // of each worker, at most 256; 0: see threads_of_worker
  double timeout = 60;  // seconds: how long a collective waits for a worker that gives no sign of life; at most 1e6
  bool fewer = false;   // if the system gives fewer threads, run fewer workers and say so
};

// The workers of a program.
//
//   auto pool = Pool::local(4);
//   pool.spmd([&](Worker& worker) { ...; worker.barrier(); ... });
//
// Inside f each worker has its own recording, functions made by accelerate, and threads for its kernels. Tensors and
// trees that f captures may be read by all workers. What must be equal for any number of workers goes through shards
// (value_and_grad, MiniBatchQueue::share); the collectives of a worker itself depend on the number of workers.
class Pool {
 public:
  // n threads of this process. Error(usage) for n < 1, and for options out of range.
  static Pool local(int n, const PoolOptions& options = {}, Place place = Place::here());
  // The ranks that mpirun or srun started; this process is one of them. Without a launcher there is one worker. Waits
  // for the other ranks; Error(lost) if they do not come, Error(unavailable) without MPI, or under the launcher of
  // another one (docs/workers.md).
  static Pool from_environment(const PoolOptions& options = {}, Place place = Place::here());

  // The workers of a cluster profile (docs/workers.md), `n` of them or, for 0, as many as it has: threads of this
  // process for the engine "local". For "mpi" and "slurm" a program that no launcher started ends here, and mpirun or
  // srun runs it anew, with the same arguments, as n ranks; there this call is from_environment(). So call it before
  // anything is printed or written. name "": the default profile. Error(usage) for an unknown profile, for more workers
  // than it has, and for ranks of another number than n; Error(unavailable) without the launcher.
  static Pool from_profile(const std::string& name, int n = 0, const PoolOptions& options = {},
                           Place place = Place::here());

  int size() const { return size_; }
  // The indices of the workers in this process.
  Range here() const { return here_; }
  const PoolOptions& options() const { return options_; }
  // Whether worker 0 runs in this process: the one that prints and writes.
  bool is_first() const { return here_.first == 0; }

  // Calls f(worker) on every worker, and returns the results of those in this process, by index (nothing for void).
  // Recorded work that f leaves behind is computed before it leaves its thread. If workers fail, the others end at
  // their next collective, and the first error is thrown here: "worker 2: ...". Throws Error(unavailable) if the system
  // gives no thread for each worker, unless PoolOptions::fewer allows fewer, and Error(usage) inside f.
  template <class F>
  auto spmd(F&& f) {
    constexpr bool takes_worker = std::is_invocable_v<F&, Worker&>;
    static_assert(takes_worker, "the function given to spmd takes the worker: [&](retrace::Worker& worker) { ... }");
    if constexpr (!takes_worker) {
      return;
    } else if constexpr (std::is_void_v<std::invoke_result_t<F&, Worker&>>) {
      run([&](Worker& worker, size_t) { f(worker); });
    } else {
      using R = std::invoke_result_t<F&, Worker&>;
      std::vector<std::optional<R>> made(static_cast<size_t>(here_.count));
      run([&](Worker& worker, size_t slot) { made[slot].emplace(f(worker)); });
      std::vector<R> results;
      for (auto& result : made)
        if (result) results.push_back(std::move(*result));
      return results;
    }
  }

  // spmd(f) on threads beside this one, with copies of f; its results. One at a time where the workers share devices.
  // Throws Error(usage) inside f, Error(unavailable) for ranks.
  template <class F>
  auto spmd_async(F f) {
    Pool copy = *this;
    copy.tasks_ = nullptr;
    return make_future([pool = std::move(copy), f = std::move(f)]() mutable { return pool.spmd(f); },
                       [this](std::shared_ptr<FutureState> state) { add_thread(std::move(state)); });
  }

  // f(arguments...), of copies of them, on the next worker that is free; the oldest first. f has no Worker: it is
  // alone, and may train, also on a pool of its own. When the last copy of the pool ends, what has not begun is
  // cancelled, and what has is waited for. Throws as spmd_async() does.
  template <class F, class... Arguments>
  auto submit(F f, Arguments... arguments) {
    return make_future([f = std::move(f), ... a = std::move(arguments)]() mutable { return f(a...); },
                       [this](std::shared_ptr<FutureState> state) { add_task(std::move(state)); });
  }

 private:
  Pool(int size, Range here, const PoolOptions& options);
  void add_task(std::shared_ptr<FutureState> task);
  void add_thread(std::shared_ptr<FutureState> task);
  void check_tasks(const char* what) const;
  void run(FunctionRef<void(Worker& worker, size_t slot)> body);
  std::vector<std::shared_ptr<Group>> groups(size_t here) const;

  int size_;
  int beside_;  // workers on this machine
  Range here_;
  PoolOptions options_;
  std::shared_ptr<Group> rank_;  // of ranks: this process's
  std::shared_ptr<TaskRunner> tasks_;
};

// Implemented in run/, above this folder: computes what this thread recorded and is still held.
void finish_pending_work();

}  // namespace retrace
