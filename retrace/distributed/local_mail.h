#pragma once
// Messages between members that are threads of one process.

#include <condition_variable>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "retrace/distributed/group_errors.h"
#include "retrace/distributed/mailbox.h"

namespace retrace {

class LocalMail {
 public:
  // Seconds: how long a member waits while nothing in this process gives a sign of life. `first`: of all that goes on
  // between the members.
  LocalMail(int size, double seconds, std::shared_ptr<FirstFailure> first);

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
  const std::shared_ptr<FirstFailure> first_;
  bool failed_ = false;
};

}  // namespace retrace
