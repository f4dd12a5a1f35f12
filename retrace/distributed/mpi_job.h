#pragma once
// The MPI job of a process: there is one, however many groups use it.

#include <atomic>
#include <cstdint>
#include <mutex>
#include <string>
#include <vector>

#include "retrace/distributed/mpi_library.h"
#include "retrace/distributed/mpi_mail.h"
#include "retrace/distributed/mpi_pulse.h"

namespace retrace {

enum MpiTag { kPacketTag, kPartTag, kFailureTag, kQuestionTag, kAnswerTag, kMailTag, kMailPartTag };

// Longer messages go in parts.
constexpr size_t kMpiPartBytes = size_t{64} << 20;
// Between machines MPI sends what is below 64 KiB at once, and asks the receiver before it sends more, which costs the
// delay of the link three times. So messages up to a few MiB go in parts that are sent at once.
constexpr size_t kMpiShortPartBytes = size_t{60} << 10, kMostInShortParts = size_t{4} << 20;

// The first message of an exchange, and the whole of it if it is short. Below 4 KiB MPI hands a message over at once,
// through shared memory as well.
struct MpiPacket {
  uint64_t exchange = 0;  // from 1
  uint64_t bytes = 0;
  char what[48] = {};
  char message[3936];

  static bool holds(size_t bytes) { return bytes <= sizeof message; }
};

class MpiJob {
 public:
  // Seconds: how long to wait for the other ranks.
  explicit MpiJob(double seconds);
  int rank() const { return mpi.place().rank; }
  int size() const { return mpi.place().size; }

  // Tells all others, once, why this process gives up.
  void fail(const std::string& why) noexcept;
  // Throws Error(lost) if this or another process has failed.
  void check_failure();
  bool failed();
  // The ranks that this one has given up, since they gave no sign of life.
  void note_silent(const std::vector<int>& ranks);
  std::vector<int> silent();

  std::vector<MpiPacket> outgoing, incoming;  // one a peer
  std::atomic<uint64_t> exchanges{0};         // that were begun; threads that wait for messages look at it
  std::atomic<bool> awaited{true};            // see Group::set_awaited

 private:
  bool note_failure(int member, const std::string& why);

  std::mutex mutex_, asking_;
  int failed_ = -1;
  std::string why_;
  std::vector<int> silent_;
  std::vector<RetraceMpiRequest> telling_;

 public:
  MpiMail mail;
  MpiLibrary mpi;  // ends before the memory of its messages
  MpiPulse pulse;
};

}  // namespace retrace
