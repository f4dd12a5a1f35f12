#include "retrace/device/cpu/threads.h"

#include <fmt/format.h>
#include <sched.h>

#include <algorithm>
#include <atomic>
#include <thread>

#include "retrace/base/error.h"
#include "retrace/base/fp_environment.h"
#include "retrace/base/options.h"
#include "retrace/device/cpu/crew.h"

namespace retrace {
namespace {

constexpr int kMaxThreads = 256;

std::atomic<int> chosen_count{0};  // 0: not chosen yet
std::atomic<bool> count_is_set{false};
thread_local int own_count = 0;  // 0: as the process

void run_serially(int64_t count, FunctionRef<void(int64_t)> body) {
  const PieceScope piece_scope;
  const FloatingPointScope floating_point;
  for (int64_t i = 0; i < count; ++i) body(i);
}

thread_local int regions = 0;       // open on this thread
thread_local Crew* crew = nullptr;  // of the open regions

}  // namespace

int cores_of_process() {
  cpu_set_t set;
  CPU_ZERO(&set);
  const int count = sched_getaffinity(0, sizeof set, &set) == 0 ? CPU_COUNT(&set)
                                                                : static_cast<int>(std::thread::hardware_concurrency());
  return std::clamp(count, 1, kMaxThreads);
}

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
  if (own_count > 0 || count_is_set.load() || !environment(EnvironmentVariable::threads).empty()) return thread_count();
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

void run_pieces(int64_t count, FunctionRef<void(int64_t piece)> body) {
  if (count <= 1 || PieceScope::inside() || (regions == 0 && thread_count() == 1)) return run_serially(count, body);
  const ParallelRegion region;
  if (count <= Crew::kMostPieces) return crew->run(count, body);
  for (int64_t first = 0; first < count; first += Crew::kMostPieces)
    crew->run(std::min(count - first, Crew::kMostPieces), [&](int64_t i) { body(first + i); });
}

ParallelRegion::ParallelRegion() {
  if (PieceScope::inside()) return;
  if (regions == 0) {
    const int helpers = thread_count() - 1;
    if (helpers == 0) return;
    crew = &Crew::of_this_thread(helpers);
    crew->wake_all();
  }
  ++regions;
  counted_ = true;
}

ParallelRegion::~ParallelRegion() { regions -= counted_; }

}  // namespace retrace
