#include "retrace/distributed/pool.h"

#include <fmt/format.h>

#include <algorithm>
#include <atomic>
#include <exception>
#include <new>
#include <system_error>
#include <thread>

#include "retrace/base/file.h"
#include "retrace/base/fp_environment.h"
#include "retrace/base/options.h"
#include "retrace/base/warning.h"
#include "retrace/device/cpu/threads.h"
#include "retrace/distributed/courier.h"
#include "retrace/distributed/group_errors.h"
#include "retrace/distributed/launcher.h"
#include "retrace/distributed/mpi_group.h"
#include "retrace/distributed/profile.h"
#include "retrace/distributed/queue_server.h"
#include "retrace/distributed/task_runner.h"
#include "retrace/distributed/worker_scope.h"

namespace retrace {
namespace {

constexpr int kMostThreads = 256;
constexpr double kLongest = 1e6;  // seconds

void check_options(const PoolOptions& options) {
  if (options.threads < 0 || options.threads > kMostThreads)
    throw Error(ErrorKind::usage, 619, fmt::format("a pool with {} threads a worker is not possible", options.threads))
        .expected(fmt::format("1 to {}, or 0 for all that there are", kMostThreads));
  if (!(options.timeout > 0 && options.timeout <= kLongest))
    throw Error(ErrorKind::usage, 619, fmt::format("a pool that waits {:g} seconds is not possible", options.timeout))
        .expected(fmt::format("more than 0 and at most {:.0f}", kLongest));
}

// The error that a worker threw. `echo` is set if others say the same: that another one failed, or that they differ.
struct Failure {
  std::exception_ptr error;
  bool echo = false;
};

Failure current_failure(Group& group) noexcept {
  try {
    throw;
  } catch (const Error& error) {
    group.fail(reason_of(error));
    return {std::current_exception(), error.code() == 610 || error.code() == kDifferentWorkers};
  } catch (const std::exception& error) {
    group.fail(reason_of(error));
  } catch (...) {
    group.fail(reason_of("an unknown error"));
  }
  return {std::current_exception(), false};
}

Failure run_worker(const std::shared_ptr<Group>& group, int threads, FunctionRef<void(Worker&)> body) noexcept {
  const WorkerScope scope(true);
  const FloatingPointScope floating_point;
  const ThreadCountScope count(threads);
  try {
    const auto courier = std::make_shared<Courier>(group);
    const CourierScope current(group->size() > 1 ? courier.get() : nullptr);
    const RanksScope ranks(*courier);
    Worker worker(courier);
    body(worker);
    finish_pending_work();
    if (!courier->is_local()) finish_queues(*courier);
    group->end();
  } catch (...) {
    return current_failure(*group);
  }
  return {};
}

[[noreturn]] void rethrow(const Failure& failure, int64_t index) {
  try {
    std::rethrow_exception(failure.error);
  } catch (Error& error) {
    if (!failure.echo) error.in(fmt::format("worker {}", index));
    throw;
  } catch (const std::bad_alloc&) {
    throw;  // which of them came last to the memory that all share says nothing
  } catch (const std::exception& error) {
    throw Error(ErrorKind::lost, 616, fmt::format("worker {} failed", index)).got(error.what());
  } catch (...) {
    throw Error(ErrorKind::lost, 616, fmt::format("worker {} failed", index)).got("an unknown error");
  }
}

// The error of the lowest worker that failed by itself; else of the lowest that says so.
void rethrow_first(const std::vector<Failure>& failures, int64_t first, int size) {
  for (const bool echo : {false, true})
    for (size_t i = 0; i < failures.size(); ++i) {
      if (!failures[i].error || failures[i].echo != echo) continue;
      if (size == 1) std::rethrow_exception(failures[i].error);
      rethrow(failures[i], first + static_cast<int64_t>(i));
    }
}

// Threads for workers. None begins its work before begin(), so that it is known how many there are.
class WorkerThreads {
 public:
  ~WorkerThreads() { dismiss(); }

  // Starts n threads that will call work(i), or as many as the system gives; returns why there are no more.
  std::error_code start(size_t n, FunctionRef<void(size_t)> work) {
    threads_.reserve(n);
    try {
      for (size_t i = 0; i < n; ++i)
        threads_.emplace_back([this, i, work]() mutable {
          word_.wait(kWait);
          if (word_.load() != kBegin) return;
          work(i);
          server_.done();
        });
    } catch (const std::system_error& error) {
      return error.code();
    }
    return {};
  }
  size_t size() const { return threads_.size(); }

  // Returns when all have done their work, with the first error of a function of this thread's queues; `failed` is
  // told.
  std::exception_ptr begin(FunctionRef<void(const std::exception&)> failed) {
    say(kBegin);
    auto error = server_.serve(threads_.size(), failed);
    threads_.clear();
    return error;
  }
  // Ends those that have not begun.
  void dismiss() {
    if (!threads_.empty()) say(kLeave);
    threads_.clear();
  }

 private:
  enum Word : int { kWait, kBegin, kLeave };
  void say(Word word) {
    word_.store(word);
    word_.notify_all();
  }
  std::atomic<Word> word_{kWait};
  QueueServer server_;
  std::vector<std::jthread> threads_;
};

Error too_few_threads(size_t started, size_t wanted, const std::error_code& reason) {
  return Error(ErrorKind::unavailable, 621, fmt::format("only {} of {} workers could be started", started, wanted))
      .got(reason.message())
      .help("ask for fewer workers, or raise the limit of threads (ulimit -u, or that of the container)");
}

}  // namespace

Pool Pool::local(int n, const PoolOptions& options, Place place) {
  if (n < 1)
    throw Error(ErrorKind::usage, 617, fmt::format("a pool of {} workers is not possible", n))
        .where(place)
        .expected("1 or more");
  with_place(place, [&] { check_options(options); });
  return {n, {0, n}, options};
}

Pool Pool::from_profile(const std::string& name, int n, const PoolOptions& options, Place place) {
  return with_place(place, [&] {
    const Launcher launcher = detect_launcher();
    check_launcher();
    const ClusterProfile profile = cluster_profile(name);
    const int workers = workers_of(profile, n);
    if (profile.engine == "local" && !launcher.present) return local(workers, options, place);
    if (!launcher.present) launch_again(profile, workers);
    if (launcher.size != workers)
      throw Error(ErrorKind::usage, 769,
                  fmt::format("{} started {} ranks, and {} workers are wanted", launcher.name, launcher.size, workers))
          .help("start the program without a launcher: the profile says which one starts it");
    return from_environment(options, place);
  });
}

Pool Pool::from_environment(const PoolOptions& options, Place place) {
  with_place(place, [&] { check_options(options); });
  check_launcher();
  const Launcher launcher = detect_launcher();
  if (launcher.size == 1) return {1, {0, 1}, options};
  Pool pool(launcher.size, {launcher.rank, 1}, options);
  pool.rank_ = mpi_group(options.timeout);
  pool.beside_ = mpi_place().local_size;
  return pool;
}

Pool::Pool(int size, Range here, const PoolOptions& options)
    : size_(size),
      beside_(static_cast<int>(here.count)),
      here_(here),
      options_(options),
      tasks_(std::make_shared<TaskRunner>(size)) {}

void Pool::add_task(std::shared_ptr<FutureState> task) {
  check_tasks("submit");
  finish_pending_work();
  tasks_->add(std::move(task), options_.threads > 0 ? options_.threads : threads_of_worker(size_));
}

void Pool::add_thread(std::shared_ptr<FutureState> task) {
  check_tasks("spmd_async");
  finish_pending_work();
  tasks_->start(std::move(task));
}

void Pool::check_tasks(const char* what) const {
  if (inside_worker()) throw Error(ErrorKind::usage, 615, fmt::format("{} inside of spmd", what));
  if (rank_)
    throw Error(ErrorKind::unavailable, 668, fmt::format("{} works for the workers of one process", what))
        .got(fmt::format("{} ranks", size_))
        .help("use parallel_for, which shares its items out over ranks");
}

std::vector<std::shared_ptr<Group>> Pool::groups(size_t here) const {
  if (rank_) return {rank_};
  return local_groups(static_cast<int>(here), options_.timeout);
}

void Pool::run(FunctionRef<void(Worker&, size_t)> body) {
  if (inside_worker())
    throw Error(ErrorKind::usage, 615, "spmd inside of spmd").help("use the worker that you are given");
  finish_pending_work();
  std::vector<std::shared_ptr<Group>> all;
  std::vector<Failure> failures(static_cast<size_t>(here_.count));
  int threads = 0;
  const auto work = [&](size_t i) {
    failures[i] = run_worker(all[i], threads, [&](Worker& worker) { body(worker, i); });
  };
  const auto prepare = [&](size_t here, int beside) {
    all = groups(here);
    threads = options_.threads > 0 ? options_.threads : threads_of_worker(beside);
  };
  WorkerThreads workers;
  if (here_.count > 1) {
    if (const auto reason = workers.start(failures.size(), work)) {
      if (!options_.fewer) throw too_few_threads(workers.size(), failures.size(), reason);
      warn(fmt::format("only {} of {} workers could be started: {}; the result is the same",
                       std::max<size_t>(1, workers.size()), failures.size(), reason.message()));
    }
  }
  if (workers.size() > 1) {
    prepare(workers.size(), static_cast<int>(workers.size()));
    const auto failed = [&](const std::exception& error) { all[0]->fail(reason_of(error)); };
    if (const auto error = workers.begin(failed)) std::rethrow_exception(error);
  } else {
    workers.dismiss();
    prepare(1, here_.count > 1 ? 1 : beside_);
    work(0);
  }
  rethrow_first(failures, here_.first, rank_ ? size_ : static_cast<int>(all.size()));
}

}  // namespace retrace
