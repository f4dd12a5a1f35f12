#include "retrace/device/cpu/threads.h"

#include <fmt/format.h>
#include <sched.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <exception>
#include <limits>
#include <memory>
#include <mutex>
#include <thread>
#include <vector>

#include "retrace/base/error.h"
#include "retrace/base/fp_environment.h"
#include "retrace/base/options.h"

// ThreadSanitizer sees only code that was compiled for it, and Debian's TBB was not.
#if !defined(RETRACE_THREADS_WITHOUT_TBB) && !defined(RETRACE_TSAN)
#define RETRACE_CREW 1
#include <oneapi/tbb/global_control.h>
#include <oneapi/tbb/task_arena.h>
#endif

namespace retrace {
namespace {

constexpr int kMaxThreads = 256;
constexpr int64_t kNoPiece = std::numeric_limits<int64_t>::max();

std::atomic<int> chosen_count{0};  // 0: not chosen yet
std::atomic<bool> count_is_set{false};
thread_local int own_count = 0;  // 0: as the process
thread_local bool inside_piece = false;

int cores_of_process() {
  cpu_set_t set;
  CPU_ZERO(&set);
  const int count = sched_getaffinity(0, sizeof set, &set) == 0 ? CPU_COUNT(&set)
                                                                : static_cast<int>(std::thread::hardware_concurrency());
  return std::clamp(count, 1, kMaxThreads);
}

// Marks this thread as working on a piece.
class PieceScope {
 public:
  PieceScope() : before_(inside_piece) { inside_piece = true; }
  ~PieceScope() { inside_piece = before_; }

 private:
  bool before_;
};

void run_serially(int64_t count, FunctionRef<void(int64_t)> body) {
  const PieceScope piece_scope;
  const FloatingPointScope floating_point;
  for (int64_t i = 0; i < count; ++i) body(i);
}

// The exception of the lowest piece.
class Failure {
 public:
  void clear() {
    piece_.store(kNoPiece, std::memory_order_relaxed);
    error_ = nullptr;
  }
  // Pieces after a failed one need not run: all lower ones are already claimed.
  bool before(int64_t piece) const { return piece_.load(std::memory_order_relaxed) < piece; }
  void add(int64_t piece, std::exception_ptr error) {
    const std::lock_guard lock(mutex_);
    if (before(piece)) return;
    piece_.store(piece, std::memory_order_relaxed);
    error_ = std::move(error);
  }
  void rethrow() {
    if (error_) std::rethrow_exception(std::exchange(error_, nullptr));
  }

 private:
  std::atomic<int64_t> piece_{kNoPiece};
  std::mutex mutex_;
  std::exception_ptr error_;
};

#ifdef RETRACE_CREW

using Clock = std::chrono::steady_clock;
constexpr auto kSpin = std::chrono::microseconds(50);

void pause() {
#if defined(__x86_64__)
  __builtin_ia32_pause();
#else
  __asm__ volatile("yield");
#endif
}

// Spins until ready() or the end of the time.
template <class Ready>
bool spin(Ready ready) {
  const auto end = Clock::now() + kSpin;
  do {
    for (int i = 0; i < 32; ++i) {
      if (ready()) return true;
      pause();
    }
  } while (Clock::now() < end);
  return ready();
}

// The helpers of one user thread and the job that they share with it. The only claim on a piece is a successful
// decrement of remaining_; a job's description changes only while nothing is claimed, so a helper that was
// descheduled anywhere else holds up nobody.
class Crew {
 public:
  explicit Crew(int helpers) : helpers_(helpers) {}
  int helpers() const { return helpers_; }

  void open(tbb::task_arena& arena) {
    open_.store(true);
    while (hired_.load() < helpers_) {
      hired_.fetch_add(1);
      arena.enqueue([this] { help(); });
    }
  }
  void close() {
    open_.store(false);
    wake(helpers_);
  }

  void run(int64_t count, FunctionRef<void(int64_t)> body) {
    body_ = &body;
    count_ = count;
    failure_.clear();
    finished_.store(0, std::memory_order_relaxed);
    remaining_.store(count);
    wake(count - 1);
    {
      const PieceScope piece_scope;
      const FloatingPointScope floating_point;
      while (work()) {}
    }
    wait_finished(count);
    failure_.rethrow();
  }

 private:
  bool work() {
    int64_t left = remaining_.load(std::memory_order_acquire);
    while (left > 0)
      if (remaining_.compare_exchange_weak(left, left - 1)) {
        work_on(left);
        return true;
      }
    return false;
  }

  void work_on(int64_t left) {
    const int64_t count = count_, piece = count - left;
    if (!failure_.before(piece)) {
      try {
        (*body_)(piece);
      } catch (...) {
        failure_.add(piece, std::current_exception());
      }
    }
    if (finished_.fetch_add(1) + 1 == count && caller_sleeps_.load()) finished_.notify_one();
  }

  void wait_finished(int64_t count) {
    if (spin([&] { return finished_.load(std::memory_order_acquire) == count; })) return;
    caller_sleeps_.store(true);
    for (int64_t done = finished_.load(); done != count; done = finished_.load()) finished_.wait(done);
    caller_sleeps_.store(false);
  }

  void help() {
    const PieceScope piece_scope;
    const FloatingPointScope floating_point;
    for (;;) {
      while (work()) {}
      if (spin([&] { return remaining_.load(std::memory_order_relaxed) > 0; })) continue;
      if (open_.load()) {
        sleep();
        continue;
      }
      hired_.fetch_sub(1);
      if (!open_.load()) return;
      hired_.fetch_add(1);  // a region opened meanwhile and may have counted on this helper
    }
  }

  void sleep() {
    const uint32_t call = calls_.load();
    sleepers_.fetch_add(1);
    if (remaining_.load() == 0 && open_.load()) calls_.wait(call);
    sleepers_.fetch_sub(1);
  }

  void wake(int64_t wanted) {
    const int sleepers = sleepers_.load();
    if (sleepers == 0 || wanted <= 0) return;
    calls_.fetch_add(1);
    if (wanted >= sleepers) return calls_.notify_all();
    for (int64_t i = 0; i < wanted; ++i) calls_.notify_one();
  }

  const int helpers_;
  FunctionRef<void(int64_t)>* body_ = nullptr;
  int64_t count_ = 0;
  Failure failure_;
  alignas(64) std::atomic<int64_t> remaining_{0};
  alignas(64) std::atomic<int64_t> finished_{0};
  std::atomic<bool> caller_sleeps_{false};
  alignas(64) std::atomic<int> sleepers_{0};
  std::atomic<uint32_t> calls_{0};
  std::atomic<int> hired_{0};
  std::atomic<bool> open_{false};
};

// A crew with the TBB arena that its helpers come from.
struct Team {
  explicit Team(int helpers) : crew(helpers), arena(helpers + 1, 1) {}
  Crew crew;
  tbb::task_arena arena;
};

// Teams that no thread uses now, and TBB's global limit, which follows the helpers that all user threads want
// together. Teams are reused and never destroyed: helpers and threads may outlive static objects.
class Teams {
 public:
  static Teams& instance() {
    static Teams& teams = *new Teams;
    return teams;
  }
  Team* take(int helpers) {
    const std::lock_guard lock(mutex_);
    change_limit(helpers);
    const auto found =
        std::find_if(idle_.begin(), idle_.end(), [&](Team* team) { return team->crew.helpers() == helpers; });
    if (found == idle_.end()) return new Team(helpers);
    Team* team = *found;
    idle_.erase(found);
    return team;
  }
  void give_back(Team* team) {
    const std::lock_guard lock(mutex_);
    change_limit(-team->crew.helpers());
    idle_.push_back(team);
  }

 private:
  void change_limit(int helpers) {
    wanted_ += helpers;
    control_.reset();
    if (wanted_ > 0)
      control_ = std::make_unique<tbb::global_control>(tbb::global_control::max_allowed_parallelism, 1 + wanted_);
  }

  std::mutex mutex_;
  std::vector<Team*> idle_;
  int wanted_ = 0;
  std::unique_ptr<tbb::global_control> control_;
};

// The team of a thread that calls run_pieces from outside a piece.
class Lease {
 public:
  ~Lease() { give_back(); }
  Team& with(int helpers) {
    if (team_ && team_->crew.helpers() == helpers) return *team_;
    give_back();
    team_ = Teams::instance().take(helpers);
    return *team_;
  }
  Team& team() { return *team_; }

 private:
  void give_back() {
    if (team_) Teams::instance().give_back(team_);
    team_ = nullptr;
  }
  Team* team_ = nullptr;
};

thread_local Lease lease;
thread_local int regions = 0;  // open on this thread

#endif

}  // namespace

int thread_count() {
  if (own_count > 0) return own_count;
  int count = chosen_count.load(std::memory_order_relaxed);
  if (count > 0) return count;
  count = environment_number(EnvironmentVariable::threads, 1, kMaxThreads, cores_of_process());
  int unset = 0;
  chosen_count.compare_exchange_strong(unset, count);
  return chosen_count.load();
}

int threads_of_worker(int workers) {
  if (count_is_set.load() || !environment(EnvironmentVariable::threads).empty()) return thread_count();
  return std::max(1, cores_of_process() / workers);
}

ThreadCountScope::ThreadCountScope(int count) : before_(own_count) { own_count = std::clamp(count, 1, kMaxThreads); }
ThreadCountScope::~ThreadCountScope() { own_count = before_; }

void set_thread_count(int count) {
  if (count < 1 || count > kMaxThreads)
    throw Error(ErrorKind::usage, 604, "the number of threads is out of range")
        .got(fmt::format("{}", count))
        .expected(fmt::format("1 to {}", kMaxThreads))
        .help("leave it out to use every core that the process may use");
  chosen_count.store(count);
  count_is_set.store(true);
}

#ifdef RETRACE_CREW

void run_pieces(int64_t count, FunctionRef<void(int64_t piece)> body) {
  if (count <= 1 || inside_piece || (regions == 0 && thread_count() == 1)) return run_serially(count, body);
  const ParallelRegion region;
  lease.team().crew.run(count, body);
}

ParallelRegion::ParallelRegion() {
  if (inside_piece) return;
  if (regions == 0) {
    const int helpers = thread_count() - 1;
    if (helpers == 0) return;
    Team& team = lease.with(helpers);
    team.crew.open(team.arena);
  }
  ++regions;
  state_ = &lease.team();
}

ParallelRegion::~ParallelRegion() {
  if (state_ && --regions == 0) static_cast<Team*>(state_)->crew.close();
}

#else

// Chunk c of n is [c*count/n, (c+1)*count/n), each on a thread of its own.
void run_pieces(int64_t count, FunctionRef<void(int64_t piece)> body) {
  const int64_t chunks = std::min<int64_t>(count, thread_count());
  if (chunks <= 1 || inside_piece) return run_serially(count, body);
  Failure failure;
  const auto work = [&](int64_t chunk) {
    const PieceScope piece_scope;
    const FloatingPointScope floating_point;
    for (int64_t piece = chunk * count / chunks; piece < (chunk + 1) * count / chunks; ++piece) try {
        if (!failure.before(piece)) body(piece);
      } catch (...) {
        failure.add(piece, std::current_exception());
      }
  };
  {
    std::vector<std::jthread> threads;
    for (int64_t chunk = 1; chunk < chunks; ++chunk) threads.emplace_back(work, chunk);
    work(0);
  }
  failure.rethrow();
}

ParallelRegion::ParallelRegion() = default;
ParallelRegion::~ParallelRegion() { state_ = nullptr; }

#endif

}  // namespace retrace
