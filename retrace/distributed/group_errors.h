#pragma once
// The errors of every group, in one wording.

#include <mutex>
#include <span>
#include <string>

#include "retrace/base/error.h"

namespace retrace {

// The code of an error that every worker throws with the same text.
constexpr int kDifferentWorkers = 605;

constexpr size_t kLongestReason = 3000;  // of why a member failed: MPI hands over so short a message at once

// The text that this member sends to the others. If there is no memory for it, it says that.
std::string reason_of(const std::exception& error) noexcept;
std::string reason_of(const char* text) noexcept;
// 610: a member gave up, for this reason.
Error member_failed(int member, const std::string& why);
// 611: these members did not come to the collective `what`, and gave no sign of life for so long.
Error members_missing(const char* what, double seconds, std::span<const int> missing);
// The text for the user before it becomes an error.
std::string still_waiting(int member, const char* what, double waited, std::span<const int> missing);
// 618: that member makes no further calls, and this one waits for it.
Error member_ended(int ended, int waiting, const char* what);
// 666: every member that could send such a message has returned.
Error no_message(int waiting, int from, int tag);
// 612: this member is in collective `mine`, that member in `theirs`.
Error different_collectives(const char* mine, const char* theirs, int member);

// The first failure among threads: members that give up since another one did change nothing.
class FirstFailure {
 public:
  FirstFailure() { why_.reserve(kLongestReason); }  // there may be no memory left to say it
  void note(int member, const std::string& why) noexcept;
  // member_failed() of it; there is one.
  Error error() const;

 private:
  mutable std::mutex mutex_;
  int member_ = -1;
  std::string why_;
};

}  // namespace retrace
