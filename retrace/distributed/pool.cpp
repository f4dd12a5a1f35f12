#include "retrace/distributed/pool.h"

#include <fmt/format.h>

#include <exception>
#include <thread>

#include "retrace/base/fp_environment.h"
#include "retrace/device/cpu/threads.h"
#include "retrace/distributed/courier.h"
#include "retrace/distributed/group_errors.h"
#include "retrace/distributed/launcher.h"
#include "retrace/distributed/mpi_group.h"

namespace retrace {
namespace {

thread_local bool inside = false;

class InsideScope {
 public:
  InsideScope() { inside = true; }
  ~InsideScope() { inside = false; }
};

constexpr int kMostThreads = 256;
constexpr double kLongest = 1e6;  // seconds

void check_options(const PoolOptions& options) {
  if (options.threads < 0 || options.threads > kMostThreads)
    throw Error(ErrorKind::usage, 619, fmt::format("a pool with {} threads a worker is not possible", options.threads))
        .expected(fmt::format("1 to {}, or 0 for all that there are", kMostThreads));
  if (!(options.seconds > 0 && options.seconds <= kLongest))
    throw Error(ErrorKind::usage, 619, fmt::format("a pool that waits {:g} seconds is not possible", options.seconds))
        .expected(fmt::format("more than 0 and at most {:.0f}", kLongest));
}

// What a worker threw; `echo` if it says what others say as well: that another one failed, or that they differ.
struct Failure {
  std::exception_ptr error;
  bool echo = false;
};

Failure current_failure(Group& group) {
  try {
    throw;
  } catch (const Error& error) {
    group.fail(error.what());
    return {std::current_exception(), error.code() == 610 || error.code() == kDifferentWorkers};
  } catch (const std::exception& error) {
    group.fail(error.what());
  } catch (...) {
    group.fail("an unknown error");
  }
  return {std::current_exception(), false};
}

Failure run_worker(const std::shared_ptr<Group>& group, int threads, FunctionRef<void(Worker&)> body) {
  const InsideScope scope;
  const FloatingPointScope floating_point;
  const ThreadCountScope count(threads);
  const auto courier = std::make_shared<Courier>(group);
  const CourierScope current(group->size() > 1 ? courier.get() : nullptr);
  try {
    Worker worker(courier);
    body(worker);
    finish_pending_work();
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

}  // namespace

Pool Pool::local(int n, PoolOptions options) {
  if (n < 1)
    throw Error(ErrorKind::usage, 617, fmt::format("a pool of {} workers is not possible", n)).expected("1 or more");
  check_options(options);
  return {n, {0, n}, options};
}

Pool Pool::from_environment(PoolOptions options) {
  check_options(options);
  check_launcher();
  const Launcher launcher = detect_launcher();
  if (launcher.size == 1) return {1, {0, 1}, options};
  Pool pool(launcher.size, {launcher.rank, 1}, options);
  pool.rank_ = mpi_group(options.seconds);
  pool.beside_ = mpi_place().local_size;
  return pool;
}

std::vector<std::shared_ptr<Group>> Pool::groups() const {
  if (rank_) return {rank_};
  return local_groups(size_, options_.seconds);
}

void Pool::run(FunctionRef<void(Worker&, size_t)> body) {
  if (inside) throw Error(ErrorKind::usage, 615, "spmd inside of spmd").help("use the worker that you are given");
  finish_pending_work();
  const auto all = groups();
  const int threads = options_.threads > 0 ? options_.threads : threads_of_worker(beside_);
  std::vector<Failure> failures(all.size());
  const auto work = [&](size_t i) {
    failures[i] = run_worker(all[i], threads, [&](Worker& worker) { body(worker, i); });
  };
  if (all.size() == 1) {
    work(0);
  } else {
    std::vector<std::jthread> workers;
    for (size_t i = 0; i < all.size(); ++i) workers.emplace_back(work, i);
  }
  rethrow_first(failures, here_.first, size_);
}

}  // namespace retrace
