#pragma once
// The helper threads of one user thread. Only run_pieces() (threads.h) uses them.

#include <array>
#include <atomic>
#include <cstdint>
#include <exception>
#include <limits>
#include <mutex>
#include <utility>

#include "retrace/base/function_ref.h"
#include "retrace/device/cpu/piece_share.h"

namespace retrace {

// Marks this thread as working on a piece.
class PieceScope {
 public:
  PieceScope() : before_(inside_) { inside_ = true; }
  ~PieceScope() { inside_ = before_; }
  PieceScope(const PieceScope&) = delete;
  PieceScope& operator=(const PieceScope&) = delete;
  static bool inside() { return inside_; }

 private:
  static constinit thread_local bool inside_;
  bool before_;
};

// The exception of the lowest piece.
class Failure {
 public:
  void clear() {
    piece_.store(kNone, std::memory_order_relaxed);
    error_ = nullptr;
  }
  // Pieces after a failed one need not run; those before it do, since one of them may fail, too.
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
  static constexpr int64_t kNone = std::numeric_limits<int64_t>::max();
  std::atomic<int64_t> piece_{kNone};
  std::mutex mutex_;
  std::exception_ptr error_;
};

// A user thread, its helpers and the job that they share. Each thread begins with a range of the pieces of its own, the
// same one in each job of so many pieces: what it wrote in one job is in its cache in the next. The only claim on a
// piece is a successful change of a share; a job's description changes only while nothing is claimed, so a helper that
// is descheduled delays no one, unless it is within its range. Helpers sleep between jobs, block the signals that are
// sent to the process, and never end the process: at its exit they sleep or leave what they touch alive.
class Crew {
 public:
  // This thread's own crew, with so many helpers, or fewer where the system gives no more threads; the user is told
  // that once. It is kept for the thread's next call, and for another thread after its end.
  static Crew& of_this_thread(int helpers);

  // Wakes the helpers for a job that comes soon.
  void wake_all() { wake(active_.load(std::memory_order_relaxed)); }
  static constexpr int64_t kMostPieces = int64_t{1} << 31;
  // Calls body(i) for each i of 0..count-1, at most kMostPieces. Rethrows the exception of the lowest.
  void run(int64_t count, FunctionRef<void(int64_t)> body);

 private:
  friend class IdleCrews;
  static constexpr int kRetired = -1;

  void employ(int helpers);
  int start_helper();
  void tell(int helpers, int problem) const;
  void retire();
  void leave();
  void set_active(int helpers);
  void help();
  void share_out(int64_t count);
  void work(int thread);
  int64_t steal(int thread);
  void work_on(int64_t piece);
  void tell_finished(int64_t pieces);
  void wait_finished(int64_t count);
  bool new_job(uint32_t seen) const { return job_.load() != seen; }
  void sleep(int index, uint32_t seen);
  void wake(int64_t wanted);

  FunctionRef<void(int64_t)>* body_ = nullptr;
  int64_t count_ = 0;
  Failure failure_;
  static constexpr int kShares = 64;  // threads that come after these only help others
  std::array<PieceShare, kShares> shares_;
  alignas(64) std::atomic<int> sharers_{0};  // shares of the job
  std::atomic<uint32_t> job_{0};             // how many there were
  alignas(64) std::atomic<int64_t> finished_{0};
  std::atomic<bool> caller_sleeps_{false};
  alignas(64) std::atomic<int> sleepers_{0};
  std::atomic<uint32_t> calls_{0};
  std::atomic<int> active_{0};   // helpers with a lower index take part
  std::atomic<int> arrived_{0};  // indices given
  std::atomic<int> staff_{1};    // helpers and the owner: the last to leave deletes the crew
  int started_ = 0;              // helpers
  Crew* next_idle_ = nullptr;
};

}  // namespace retrace
