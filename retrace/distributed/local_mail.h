#pragma once
// Messages between members that are threads of one process.

#include <condition_variable>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "retrace/distributed/mailbox.h"

namespace retrace {

class LocalMail {
 public:
  // Seconds: how long a member waits while nothing in this process gives a sign of life.
  LocalMail(int size, double seconds);

  void send(int rank, int to, Message message);
  std::optional<Message> take(int rank, int from, int tag);
  bool has(int rank, int from, int tag);
  // Waits for it; see Group::receive().
  Message receive(int rank, int from, int tag);
  // A member gave up, or sends nothing more: those that wait hear of it.
  void fail(int rank, const std::string& why) noexcept;
  void end(int rank) noexcept;

 private:
  struct Member {
    Mailbox mailbox;
    bool ended = false;
  };
  std::vector<int> senders(int rank, int from) const;
  Mailbox& mailbox(int rank) { return members_[static_cast<size_t>(rank)].mailbox; }

  const double seconds_;
  std::mutex mutex_;
  std::condition_variable changed_;
  std::vector<Member> members_;
  int failed_ = -1;
  std::string why_;
};

}  // namespace retrace
