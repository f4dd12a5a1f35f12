#pragma once
// Groups of threads or processes that work on one job. A group moves bytes; what is added up, and in which order, is
// decided above it.

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "retrace/distributed/mailbox.h"

namespace retrace {

// Bytes for a member.
struct Sent {
  const void* data = nullptr;
  size_t bytes = 0;
};

// Room for bytes from a member.
struct Received {
  void* data = nullptr;
  size_t bytes = 0;
};

// One member's view of its group. A member makes one collective at a time, from any thread; all members make the same
// ones in the same order. Messages may be sent and taken at any time, by any thread.
class Group {
 public:
  virtual ~Group() = default;
  virtual int rank() const = 0;
  virtual int size() const = 0;

  // sent[r] goes to member r, received[r] comes from it; the sizes agree, and both may be empty. sent and received
  // have an entry for each member; a member's own entries are copied as well. Returns when the bytes are there and
  // `sent` may be changed.
  // Throws Error(lost) that names the members that did not come within the time-out, or that are in another collective
  // than `what` ("all_gather"), or the member that failed, with its error.
  virtual void exchange(std::span<const Sent> sent, std::span<const Received> received, const char* what) = 0;
  // Messages; a group that moves none of them throws.

  // Hands a message over to member `to` (also to itself), and waits for nobody. Messages from one member to another
  // with one tag arrive in their order. `message.from` is set here.
  virtual void send(int to, Message message);
  // The oldest message that has come from this member with this tag (see Mailbox::take); nothing if there is none yet.
  virtual std::optional<Message> take(int from, int tag);
  virtual bool has(int from, int tag);
  // Waits for it. Throws Error(lost) as exchange() does, and if every member that could send it has ended.
  virtual Message receive(int from, int tag);
  // Whether anyone waits for the exchange under way, as is so unless it is said. While nobody does, it leaves the
  // processor to those who compute.
  virtual void set_awaited(bool) noexcept {}
  // How long a member waits for others that give no sign of life.
  virtual double seconds() const { return 60; }
  // Whether all members are threads of this process.
  virtual bool is_local() const { return true; }
  // The first n members as a group of their own, called by all; a member that does not belong to it makes no
  // collectives until all call join(n), which ends that group. Messages go through the whole group meanwhile. Of ranks
  // alone.
  virtual std::shared_ptr<Group> first(int n);
  virtual void join(int n);
  // This member gives up: members that wait for it, now or later, throw Error(lost) with this text. Never throws.
  virtual void fail(const std::string& why) noexcept = 0;
  // This member makes no further calls: members that wait for it, now or later, throw Error(lost) that says so.
  virtual void end() noexcept {}

  // all[r * bytes ...] = the bytes given by member r.
  void all_gather(const void* mine, size_t bytes, void* all, const char* what = "all_gather");
  // Returns when every member has come.
  void barrier();
};

// A group of one: every collective is the identity.
std::shared_ptr<Group> single_group();

// n members in this process, each for a thread of its own. `seconds`: how long a member waits for others that give no
// sign of life; one that computes gives it.
std::vector<std::shared_ptr<Group>> local_groups(int n, double seconds);

}  // namespace retrace
