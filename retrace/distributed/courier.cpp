#include "retrace/distributed/courier.h"

#include <chrono>
#include <system_error>

#include "retrace/base/error.h"
#include "retrace/base/fp_environment.h"
#include "retrace/distributed/group_errors.h"

namespace retrace {
namespace {
thread_local Courier* current = nullptr;
}

Courier* current_courier() { return current; }

CourierScope::CourierScope(Courier* courier) : before_(current) { current = courier; }
CourierScope::~CourierScope() { current = before_; }

Courier::~Courier() {
  {
    const std::lock_guard lock(mutex_);
    closing_ = true;
  }
  changed_.notify_all();
  if (thread_.joinable()) thread_.join();
}

void Courier::exchange(std::span<const Sent> sent, std::span<const Received> received, const char* what) {
  finish(begun_);
  group_->exchange(sent, received, what);
}

int64_t Courier::begin(void (*work)(Group&, void*), void* context) {
  {
    std::unique_lock lock(mutex_);
    if (error_) std::rethrow_exception(error_);
    tasks_.push_back({work, context});
    ++begun_;
    if (!thread_.joinable() && !start()) do_first(lock);
  }
  changed_.notify_all();
  return begun_;
}

// False if the system gives no thread: the member then makes its collectives itself, where it begins them.
bool Courier::start() noexcept {
  try {
    thread_ = std::thread([this] { serve(); });
    return true;
  } catch (const std::exception&) {
    return false;
  }
}

void Courier::finish(int64_t number) {
  std::unique_lock lock(mutex_);
  if (done_ < number) {
    const auto start = std::chrono::steady_clock::now();
    ++waiting_;
    group_->set_awaited(true);
    changed_.wait(lock, [&] { return done_ >= number; });
    --waiting_;
    waited_ += std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  }
  if (error_) std::rethrow_exception(error_);
}

DeviceLink* Courier::link(cuda::Runtime* device) {
  if (!agreed_) {
    finish(begun_);
    link_ = DeviceLink::agree(*group_, device);
    agreed_ = true;
  }
  if (link_ && device && device != &link_->runtime())
    throw Error(ErrorKind::usage, 801, "a worker exchanges what lies on another device than before")
        .help("a worker of a pool computes on one CUDA device; RETRACE_EXCHANGE=host lets it change");
  return device ? link_.get() : nullptr;
}

double Courier::waited() {
  const std::lock_guard lock(mutex_);
  return waited_;
}

void Courier::abandon(const char* why) noexcept {
  std::unique_lock lock(mutex_);
  if (done_ == begun_) return;
  fail(reason_of(why));
  changed_.wait(lock, [&] { return done_ == begun_; });
}

void Courier::serve() {
  const FloatingPointScope floating_point;
  std::unique_lock lock(mutex_);
  for (;;) {
    changed_.wait(lock, [&] { return closing_ || !tasks_.empty(); });
    if (tasks_.empty()) return;
    do_first(lock);
  }
}

void Courier::do_first(std::unique_lock<std::mutex>& lock) {
  const Task task = tasks_.front();
  if (!error_) {
    group_->set_awaited(waiting_ > 0);
    lock.unlock();
    std::exception_ptr error;
    try {
      task.work(*group_, task.context);
    } catch (...) {
      error = std::current_exception();
    }
    lock.lock();
    group_->set_awaited(true);
    if (error) error_ = error;
  }
  tasks_.pop_front();
  ++done_;
  changed_.notify_all();
}

}  // namespace retrace
