#include "retrace/distributed/task_runner.h"

#include <system_error>

#include "retrace/base/error.h"
#include "retrace/base/fp_environment.h"
#include "retrace/device/cpu/threads.h"
#include "retrace/distributed/worker_scope.h"

namespace retrace {
namespace {

// A piece of work may hold the last copy of its own pool: a thread does not wait for itself.
void leave(std::vector<std::thread>& threads) {
  for (auto& thread : threads)
    if (thread.get_id() == std::this_thread::get_id())
      thread.detach();
    else
      thread.join();
}

Error no_thread(const std::system_error& error) {
  return Error(ErrorKind::unavailable, 623, "no thread could be started for work beside the program")
      .got(error.code().message())
      .help("raise the limit of threads (ulimit -u, or that of the container)");
}

}  // namespace

TaskRunner::~TaskRunner() {
  {
    const std::lock_guard lock(mutex_);
    closing_ = true;
  }
  while (const auto state = next_left()) state->cancel();
  changed_.notify_all();
  leave(threads_);
  leave(own_);
}

// One that has not begun, taken away; null: none.
std::shared_ptr<FutureState> TaskRunner::next_left() {
  const std::lock_guard lock(mutex_);
  if (tasks_.empty()) return nullptr;
  const auto state = std::move(tasks_.front().state);
  tasks_.pop_front();
  return state;
}

void TaskRunner::add(std::shared_ptr<FutureState> task, int threads) {
  {
    const std::lock_guard lock(mutex_);
    if (static_cast<int>(tasks_.size()) >= idle_ && static_cast<int>(threads_.size()) < workers_) {
      try {
        threads_.emplace_back([this] { serve(); });
      } catch (const std::system_error& error) {
        if (threads_.empty()) throw no_thread(error);  // else those that there are do it
      }
    }
    tasks_.push_back({std::move(task), threads});
  }
  changed_.notify_one();
}

void TaskRunner::start(std::shared_ptr<FutureState> task) {
  const std::lock_guard lock(mutex_);
  try {
    own_.emplace_back([task = std::move(task)]() mutable {
      const FloatingPointScope floating_point;
      task->run();
      task.reset();
    });
  } catch (const std::system_error& error) {
    throw no_thread(error);
  }
}

void TaskRunner::serve() {
  const FloatingPointScope floating_point;
  std::unique_lock lock(mutex_);
  for (;;) {
    ++idle_;
    changed_.wait(lock, [&] { return closing_ || !tasks_.empty(); });
    --idle_;
    if (tasks_.empty()) return;
    Task task = std::move(tasks_.front());
    tasks_.pop_front();
    lock.unlock();
    {
      const ThreadCountScope count(task.threads);
      task.state->run();
      task.state.reset();
    }
    lock.lock();
  }
}

}  // namespace retrace
