#pragma once
// A thread beside each rank that answers the others when they ask for a sign of life. So a rank that computes for long
// is known to be alive, and one that is stopped or hangs is not.

#include <atomic>
#include <cstdint>
#include <deque>
#include <mutex>
#include <span>
#include <thread>
#include <vector>

#include "retrace/distributed/mpi_library.h"

namespace retrace {

// The state that a rank publishes of itself.
struct MpiState {
  uint64_t answers = 0;           // that came from it so far; counted by who asks
  uint64_t waits_in = 0;          // the number of the exchange in which it waits; 0: in none
  double processor_seconds = -1;  // that it has used, without those of its pulse
};

class MpiPulse {
 public:
  // Alone it does nothing.
  explicit MpiPulse(const MpiLibrary& mpi);
  ~MpiPulse() { stop(); }
  // Ends the thread; questions are no longer answered.
  void stop();

  // The exchange that this rank waits in; 0: none.
  void set_waiting(uint64_t exchange) { waits_in_.store(exchange, std::memory_order_relaxed); }
  // Asks these ranks, each again when it has answered.
  void ask(std::span<const int> peers);
  // The last answer of a rank.
  MpiState state(int peer);

 private:
  struct Message {
    uint64_t waits_in;
    double processor_seconds;
  };
  struct Sending {
    Message message;
    RetraceMpiRequest request;
  };
  void serve();
  void answer_questions();
  void take_answers();
  void ask_again();
  void send(int peer, int tag);
  Message message() const;

  const MpiLibrary& mpi_;
  std::atomic<uint64_t> waits_in_{0};
  std::atomic<bool> closing_{false};
  std::mutex mutex_;
  std::vector<MpiState> states_;
  std::vector<char> wanted_, asked_;  // by rank; asked: the answer has not come
  std::deque<Sending> sending_;       // in this order
  std::thread thread_;
};

}  // namespace retrace
