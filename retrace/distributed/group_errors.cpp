#include "retrace/distributed/group_errors.h"

#include <fmt/format.h>

#include <new>

#include "retrace/base/joined.h"
#include "retrace/distributed/mailbox.h"

namespace retrace {

namespace {
constexpr const char* kNoMemory = "out of memory";  // so short that a text needs none
}

std::string reason_of(const std::exception& error) noexcept {
  return dynamic_cast<const std::bad_alloc*>(&error) ? kNoMemory : reason_of(error.what());
}

std::string reason_of(const char* text) noexcept {
  try {
    return text;
  } catch (const std::bad_alloc&) {
    return kNoMemory;
  }
}

Error member_failed(int member, const std::string& why) {
  return Error(ErrorKind::lost, 610, fmt::format("worker {} failed", member)).got(why);
}

Error members_missing(const char* what, double seconds, std::span<const int> missing) {
  return Error(ErrorKind::lost, 611, fmt::format("{}: not every worker came within {:g} seconds", what, seconds))
      .got(fmt::format("no call and no sign of life from worker {}", joined(missing, ", ")))
      .expected("every worker makes the same collectives in the same order, also where one has nothing to say")
      .help(
          "look at what became of it; a worker that only waits for something else, such as a file, needs a longer "
          "time: PoolOptions::timeout, of retrace train: --timeout SECONDS");
}

std::string still_waiting(int member, const char* what, double waited, std::span<const int> missing) {
  return fmt::format("worker {} has waited for worker {} in {} for {:.2g} seconds", member, joined(missing, ", "), what,
                     waited);
}

Error member_ended(int ended, int waiting, const char* what) {
  return Error(ErrorKind::lost, 618,
               fmt::format("worker {} has returned while worker {} waits in {}", ended, waiting, what))
      .help("every worker must make the same collectives in the same order, also where one has nothing to say");
}

Error no_message(int waiting, int from, int tag) {
  return Error(ErrorKind::lost, 666,
               fmt::format("worker {} waits for a message that nobody can send any more", waiting))
      .got(fmt::format("{}{}; the workers that could send it have returned",
                       from == kAny ? "from any worker" : fmt::format("from worker {}", from),
                       tag == kAny ? "" : fmt::format(" with tag {}", tag)))
      .help("send as many messages as are received, or ask has_message() first");
}

Error different_collectives(const char* mine, const char* theirs, int member) {
  return Error(ErrorKind::lost, 612, "the workers are in different collectives")
      .got(fmt::format("{} here, {} in worker {}", mine, theirs, member))
      .help("every worker must make the same collectives in the same order");
}

void FirstFailure::note(int member, const std::string& why) noexcept {
  const std::lock_guard lock(mutex_);
  if (member_ < 0) member_ = member, why_.assign(why, 0, kLongestReason);
}

Error FirstFailure::error() const {
  const std::lock_guard lock(mutex_);
  return member_failed(member_, why_);
}

}  // namespace retrace
