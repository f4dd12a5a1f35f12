#include "retrace/monitor/background.h"

#include <chrono>
#include <condition_variable>
#include <exception>
#include <mutex>
#include <new>

#include "retrace/base/quiet_thread.h"

namespace retrace {

struct Background::State {
  explicit State(std::function<void()> task) : work(std::move(task)) {}

  void run() {
    std::unique_lock lock(mutex);
    while (true) {
      changed.wait(lock, [&] { return asked || ended; });
      if (!asked) return;
      asked = false, busy = true;
      lock.unlock();
      try {
        work();
      } catch (const std::bad_alloc&) {  // the next call goes on
      }
      lock.lock();
      busy = false;
      changed.notify_all();
    }
  }
  bool idle() const { return !asked && !busy; }

  const std::function<void()> work;
  std::mutex mutex;
  std::condition_variable changed;
  bool asked = false, busy = false, ended = false;
};

Background::Background(std::function<void()> work) : state_(std::make_shared<State>(std::move(work))) {}

Background::~Background() {
  if (!thread_.joinable()) return;
  {
    const std::lock_guard lock(state_->mutex);
    state_->ended = true;
  }
  state_->changed.notify_all();
  thread_.join();
}

bool Background::ask() {
  if (!thread_.joinable()) {
    try {
      thread_ = quiet_thread([state = state_] { state->run(); });
    } catch (const std::exception&) {  // no thread, or no memory for one
      return false;
    }
  }
  {
    const std::lock_guard lock(state_->mutex);
    state_->asked = true;
  }
  state_->changed.notify_all();
  return true;
}

bool Background::wait(double seconds) {
  std::unique_lock lock(state_->mutex);
  return state_->changed.wait_for(lock, std::chrono::duration<double>(seconds), [&] { return state_->idle(); });
}

void Background::wait() {
  std::unique_lock lock(state_->mutex);
  state_->changed.wait(lock, [&] { return state_->idle(); });
}

void Background::leave() {
  if (!thread_.joinable()) return;
  {
    const std::lock_guard lock(state_->mutex);
    state_->ended = true;
  }
  state_->changed.notify_all();
  thread_.detach();
}

}  // namespace retrace
