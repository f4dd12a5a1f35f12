#include "retrace/distributed/future.h"

#include <algorithm>
#include <chrono>
#include <mutex>

#include "retrace/base/error.h"
#include "retrace/distributed/pool.h"
#include "retrace/distributed/queue_server.h"

namespace retrace {

struct FutureState::Core {
  enum { waits, runs, over } stage = waits;
  std::mutex mutex;
  std::exception_ptr error;
  std::vector<std::shared_ptr<FutureState>> followers;
  std::vector<std::shared_ptr<QueueInbox>> waiting;  // threads to tell
};

FutureState::FutureState() : core_(new Core) {}
FutureState::~FutureState() = default;

bool FutureState::ready() const {
  const std::lock_guard lock(core_->mutex);
  return core_->stage == Core::over;
}

bool FutureState::wait(double seconds) const {
  const auto inbox = QueueInbox::of_this_thread();
  {
    const std::lock_guard lock(core_->mutex);
    if (std::find(core_->waiting.begin(), core_->waiting.end(), inbox) == core_->waiting.end())
      core_->waiting.push_back(inbox);
  }
  return inbox->serve_until([&] { return ready(); }, seconds);
}

size_t FutureState::wait_any(const std::vector<FutureState*>& states) {
  if (states.empty()) throw Error(ErrorKind::usage, 626, "wait_any without a future");
  const auto inbox = QueueInbox::of_this_thread();
  for (FutureState* state : states) {
    const std::lock_guard lock(state->core_->mutex);
    state->core_->waiting.push_back(inbox);
  }
  const auto first = [&] { return std::find_if(states.begin(), states.end(), [](auto* s) { return s->ready(); }); };
  inbox->serve_until([&] { return first() != states.end(); }, -1);
  return static_cast<size_t>(first() - states.begin());
}

bool FutureState::cancel() {
  {
    const std::lock_guard lock(core_->mutex);
    if (core_->stage != Core::waits) return core_->stage == Core::over;
    core_->stage = Core::runs;
  }
  try {
    throw Error(ErrorKind::usage, 669, "the work was cancelled before it began");
  } catch (...) {  // or there was no memory to say so
    finish(std::current_exception());
  }
  return true;
}

void FutureState::check() const {
  const std::lock_guard lock(core_->mutex);
  if (core_->error) std::rethrow_exception(core_->error);
}

void FutureState::run() noexcept {
  {
    const std::lock_guard lock(core_->mutex);
    if (core_->stage != Core::waits) return;
    core_->stage = Core::runs;
  }
  try {
    compute();
    finish_pending_work();
  } catch (...) {
    return finish(std::current_exception());
  }
  finish(nullptr);
}

void FutureState::finish(std::exception_ptr error) noexcept {
  std::vector<std::shared_ptr<FutureState>> followers;
  std::vector<std::shared_ptr<QueueInbox>> waiting;
  {
    const std::lock_guard lock(core_->mutex);
    core_->error = std::move(error);
    core_->stage = Core::over;
    followers.swap(core_->followers), waiting.swap(core_->waiting);
  }
  for (const auto& inbox : waiting) inbox->tell();
  for (const auto& next : followers) next->run();
}

void FutureState::follow(std::shared_ptr<FutureState> next) {
  {
    const std::lock_guard lock(core_->mutex);
    if (core_->stage != Core::over) return core_->followers.push_back(std::move(next));
  }
  next->run();
}

}  // namespace retrace
