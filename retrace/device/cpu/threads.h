#pragma once
// The only door to threads. Pieces of work are numbered; which thread runs a piece is unspecified and must not matter.

#include <cstdint>

#include "retrace/base/function_ref.h"
#include "retrace/device/cpu/thread_count.h"

namespace retrace {

// The cores that this process may use, at most 256.
int cores_of_process();

// The threads for each of `workers` that share this machine. A count that was set (set_thread_count, RETRACE_THREADS,
// a ThreadCountScope of the calling thread) holds for each of them; otherwise the cores are shared out, at least one
// for each.
int threads_of_worker(int workers);

// Another thread count for this thread alone, for its lifetime: for a worker among others in this process.
class ThreadCountScope {
 public:
  explicit ThreadCountScope(int count);
  ~ThreadCountScope();
  ThreadCountScope(const ThreadCountScope&) = delete;
  ThreadCountScope& operator=(const ThreadCountScope&) = delete;

 private:
  int before_;
};

// Calls body(i) for i in 0..count-1, each once, on thread_count() threads, or on as many as the system gives (the user
// is warned once). It returns when all are done. If calls throw, the exception of the lowest piece is rethrown. A call
// inside a piece runs serially. In a ParallelRegion the helpers are awake.
void run_pieces(int64_t count, FunctionRef<void(int64_t piece)> body);

// Keeps the helpers of this thread awake: they spin for at most 50 microseconds between calls of run_pieces. A plan
// runs inside one. Nesting is allowed and does nothing.
class ParallelRegion {
 public:
  ParallelRegion();
  ~ParallelRegion();
  ParallelRegion(const ParallelRegion&) = delete;
  ParallelRegion& operator=(const ParallelRegion&) = delete;

 private:
  bool counted_ = false;
};

}  // namespace retrace
