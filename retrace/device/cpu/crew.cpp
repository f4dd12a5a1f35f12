#include "retrace/device/cpu/crew.h"

#include <fmt/format.h>
#include <pthread.h>
#include <signal.h>

#include <algorithm>
#include <chrono>
#include <memory>
#include <system_error>

#include "retrace/base/fp_environment.h"
#include "retrace/base/warning.h"

namespace retrace {

constinit thread_local bool PieceScope::inside_ = false;

// Crews that no thread uses now. Never destroyed: helpers may outlive static objects.
class IdleCrews {
 public:
  static IdleCrews& instance() {
    static IdleCrews& crews = *new IdleCrews;
    return crews;
  }

  // The smallest crew that has so many helpers, else the largest; null if there is none.
  Crew* take(int helpers) {
    const std::lock_guard lock(mutex_);
    Crew** best = nullptr;
    for (Crew** at = &first_; *at; at = &(*at)->next_idle_) {
      const int have = (*at)->started_;
      if (!best || (have >= helpers ? (*best)->started_ < helpers || have < (*best)->started_
                                    : have > (*best)->started_))
        best = at;
    }
    if (!best) return nullptr;
    Crew* const crew = *best;
    *best = std::exchange(crew->next_idle_, nullptr);
    helpers_ -= crew->started_;
    return crew;
  }

  // Keeps it if that leaves few threads idle.
  void give_back(Crew* crew) {
    {
      const std::lock_guard lock(mutex_);
      if (helpers_ + crew->started_ <= kMostIdle) {
        helpers_ += crew->started_;
        crew->next_idle_ = first_, first_ = crew;
        return;
      }
    }
    crew->retire();
  }

  // A child process has its parent's crews without their threads, and makes its own.
  static int generation() { return generation_.load(std::memory_order_relaxed); }

 private:
  static constexpr int kMostIdle = 256;  // helpers

  IdleCrews() {
    pthread_atfork([] { instance().mutex_.lock(); }, [] { instance().mutex_.unlock(); },
                   [] {
                     instance().first_ = nullptr, instance().helpers_ = 0;
                     ++generation_;
                     instance().mutex_.unlock();
                   });
  }

  static inline std::atomic<int> generation_{0};
  std::mutex mutex_;
  Crew* first_ = nullptr;
  int helpers_ = 0;
};

namespace {

using Clock = std::chrono::steady_clock;
constexpr auto kSpin = std::chrono::microseconds(50);
constexpr size_t kStackBytes = size_t{1} << 20;  // kernels keep their arrays elsewhere

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

// While it lives this thread, and a thread that it starts, blocks all signals but those that a thread raises itself by
// a fault, and that of profilers.
class SignalsBlocked {
 public:
  SignalsBlocked() {
    sigset_t all;
    sigfillset(&all);
    for (const int own : {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGTRAP, SIGSYS, SIGABRT, SIGPROF}) sigdelset(&all, own);
    pthread_sigmask(SIG_SETMASK, &all, &before_);
  }
  ~SignalsBlocked() { pthread_sigmask(SIG_SETMASK, &before_, nullptr); }
  SignalsBlocked(const SignalsBlocked&) = delete;
  SignalsBlocked& operator=(const SignalsBlocked&) = delete;

 private:
  sigset_t before_;
};

// The crew of a thread. Trivial, so that it can be used until the thread's very end.
struct Own {
  Crew* crew;
  int helpers, generation;
};
thread_local Own own;

struct AtThreadEnd {
  bool begun = false;
  ~AtThreadEnd() {
    Crew* const crew = std::exchange(own.crew, nullptr);
    if (crew && own.generation == IdleCrews::generation()) IdleCrews::instance().give_back(crew);
  }
};
thread_local AtThreadEnd at_thread_end;

}  // namespace

Crew& Crew::of_this_thread(int helpers) {
  IdleCrews& idle = IdleCrews::instance();
  if (own.crew && own.generation == IdleCrews::generation()) {
    if (own.helpers == helpers) return *own.crew;
  } else {
    at_thread_end.begun = true;  // so that it exists, and ends
    Crew* const crew = idle.take(helpers);
    own = {crew ? crew : new Crew, 0, IdleCrews::generation()};
  }
  own.crew->employ(helpers);
  own.helpers = helpers;
  return *own.crew;
}

void Crew::employ(int helpers) {
  int problem = 0;
  while (started_ < helpers && (problem = start_helper()) == 0) ++started_;
  set_active(std::min(helpers, started_));
  if (problem) tell(helpers, problem);
}

int Crew::start_helper() {
  const auto body = [](void* crew) -> void* {
    static_cast<Crew*>(crew)->help();
    return nullptr;
  };
  const SignalsBlocked blocked;
  pthread_attr_t attributes;
  if (const int problem = pthread_attr_init(&attributes)) return problem;
  pthread_attr_setdetachstate(&attributes, PTHREAD_CREATE_DETACHED);
  pthread_attr_setstacksize(&attributes, kStackBytes);
  staff_.fetch_add(1);
  pthread_t thread;
  const int problem = pthread_create(&thread, &attributes, body, this);
  if (problem) staff_.fetch_sub(1);
  pthread_attr_destroy(&attributes);
  return problem;
}

void Crew::tell(int helpers, int problem) const {
  static std::atomic<bool> told{false};
  if (told.exchange(true)) return;
  try {
    warn(fmt::format("only {} of {} threads could be started: {}; the result is the same", started_ + 1, helpers + 1,
                     std::generic_category().message(problem)));
  } catch (...) {  // no memory for the text, or a handler that throws: the work can be done
  }
}

void Crew::set_active(int helpers) {
  active_.store(helpers);
  active_.notify_all();
  calls_.fetch_add(1);  // who is one too many sleeps elsewhere from now on
  calls_.notify_all();
}

void Crew::retire() {
  set_active(kRetired);
  leave();
}

void Crew::leave() {
  if (staff_.fetch_sub(1) == 1) delete this;
}

void Crew::run(int64_t count, FunctionRef<void(int64_t)> body) {
  body_ = &body;
  count_ = count;
  failure_.clear();
  finished_.store(0, std::memory_order_relaxed);
  share_out(count);
  wake(count - 1);
  {
    const PieceScope piece_scope;
    const FloatingPointScope floating_point;
    work(0);
  }
  wait_finished(count);
  failure_.rethrow();
}

void Crew::share_out(int64_t count) {
  const int64_t threads = std::min<int64_t>(active_.load(std::memory_order_relaxed) + 1, kShares);
  const int64_t sharers = std::min(threads, count);
  sharers_.store(static_cast<int>(sharers), std::memory_order_relaxed);
  for (int64_t i = 0; i < sharers; ++i)
    shares_[static_cast<size_t>(i)].fill(count * i / sharers, count * (i + 1) / sharers);
  job_.fetch_add(1);
}

// Thread 0 is the owner, thread i helper i - 1. The pieces of its own range are told at once: a count to which all
// threads add after each piece costs as much as a small piece. What it takes from others, the last of a job, is told
// piece by piece.
void Crew::work(int thread) {
  int64_t piece = PieceShare::kNone, done = 0;
  if (thread < kShares)
    while ((piece = shares_[static_cast<size_t>(thread)].take_lowest()) != PieceShare::kNone) work_on(piece), ++done;
  if (done > 0) tell_finished(done);
  while ((piece = steal(thread)) != PieceShare::kNone) work_on(piece), tell_finished(1);
}

// Until a piece is told, the job is not over, and its description stays.
void Crew::tell_finished(int64_t pieces) {
  const int64_t count = count_;
  if (finished_.fetch_add(pieces) + pieces == count && caller_sleeps_.load()) finished_.notify_one();
}

int64_t Crew::steal(int thread) {
  const int sharers = sharers_.load(std::memory_order_relaxed);
  for (int i = 1; i <= sharers; ++i) {
    PieceShare& share = shares_[static_cast<size_t>((thread + i) % sharers)];
    if (const int64_t piece = share.take_highest(); piece != PieceShare::kNone) return piece;
  }
  return PieceShare::kNone;
}

void Crew::work_on(int64_t piece) {
  if (failure_.before(piece)) return;
  try {
    (*body_)(piece);
  } catch (...) {
    failure_.add(piece, std::current_exception());
  }
}

void Crew::wait_finished(int64_t count) {
  if (spin([&] { return finished_.load(std::memory_order_acquire) == count; })) return;
  caller_sleeps_.store(true);
  for (int64_t done = finished_.load(); done != count; done = finished_.load()) finished_.wait(done);
  caller_sleeps_.store(false);
}

void Crew::help() {
  const PieceScope piece_scope;
  const FloatingPointScope floating_point;
  const int index = arrived_.fetch_add(1);
  for (int active = active_.load(); active != kRetired; active = active_.load()) {
    if (index >= active) {
      active_.wait(active);
      continue;
    }
    const uint32_t seen = job_.load();
    work(index + 1);
    if (!spin([&] { return new_job(seen); })) sleep(index, seen);
  }
  leave();
}

void Crew::sleep(int index, uint32_t seen) {
  const uint32_t call = calls_.load();
  sleepers_.fetch_add(1);
  if (!new_job(seen) && index < active_.load()) calls_.wait(call);
  sleepers_.fetch_sub(1);
}

void Crew::wake(int64_t wanted) {
  const int sleepers = sleepers_.load();
  if (sleepers == 0 || wanted <= 0) return;
  calls_.fetch_add(1);
  if (wanted >= sleepers) return calls_.notify_all();
  for (int64_t i = 0; i < wanted; ++i) calls_.notify_one();
}

}  // namespace retrace
