#pragma once
// Messages from member to member, beside the collectives.

#include <deque>
#include <optional>
#include <string>

namespace retrace {

// In place of the number of a worker, or of a tag: any.
inline constexpr int kAny = -1;

// Tags of users are not negative.
enum ReservedTag : int {
  kQueueTag = -2,
  kNextItemTag = -3,
  kItemTag = -4,
  kJoinTag = -5,
  kLoadTag = -6,
  kLoadedTag = -7,  // and below it, one for each request under way
};

struct Message {
  int from = 0, tag = 0;
  std::string kind = {};  // of the value; see kind_of()
  std::string bytes = {};
};

// What has come for a member and was not taken yet, in the order in which it came.
class Mailbox {
 public:
  void put(Message message) { messages_.push_back(std::move(message)); }
  // The oldest message from this member with this tag; kAny: from any, with any tag of users.
  std::optional<Message> take(int from, int tag);
  bool has(int from, int tag) const { return find(from, tag) < messages_.size(); }

 private:
  size_t find(int from, int tag) const;
  std::deque<Message> messages_;
};

}  // namespace retrace
