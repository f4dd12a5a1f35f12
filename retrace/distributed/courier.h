#pragma once
// A member's group with a thread that makes collectives while the member goes on computing.

#include <condition_variable>
#include <deque>
#include <exception>
#include <mutex>
#include <thread>

#include "retrace/distributed/device_link.h"
#include "retrace/distributed/group.h"

namespace retrace {

// All collectives of the member go through its courier, in the order in which they are begun.
class Courier : public Group {
 public:
  explicit Courier(std::shared_ptr<Group> group) : group_(std::move(group)) {}
  ~Courier() override;

  int rank() const override { return group_->rank(); }
  int size() const override { return group_->size(); }
  // Runs after everything that was begun before.
  void exchange(std::span<const Sent> sent, std::span<const Received> received, const char* what) override;
  void send(int to, Message message) override { group_->send(to, std::move(message)); }
  std::optional<Message> take(int from, int tag) override { return group_->take(from, tag); }
  bool has(int from, int tag) override { return group_->has(from, tag); }
  Message receive(int from, int tag) override { return group_->receive(from, tag); }
  void set_awaited(bool awaited) noexcept override { group_->set_awaited(awaited); }
  double seconds() const override { return group_->seconds(); }
  bool is_local() const override { return group_->is_local(); }
  std::shared_ptr<Group> first(int n) override { return group_->first(n); }
  void join(int n) override { group_->join(n); }
  void fail(const std::string& why) noexcept override { group_->fail(why); }
  void end() noexcept override { group_->end(); }

  // Calls work(group, context) on the courier's thread, and returns the number of this work. The context must live
  // until finish() of that number.
  int64_t begin(void (*work)(Group& group, void* context), void* context);
  // Returns when the work of this number is done. Throws what it threw, as does every later call.
  void finish(int64_t number);
  // If something that was begun is still under way, this member gives up. Waits until nothing touches its context any
  // more.
  void abandon(const char* why) noexcept;
  // How members exchange what lies on devices: null, over the host. All members agree on it at the first call, which
  // each makes at its first exchange; `device` is where this one computes, null the CPU.
  DeviceLink* link(cuda::Runtime* device);
  // Whether members exchange from device to device what lies on devices.
  bool is_linked() const { return link_ != nullptr; }
  // "host", "peer" or "nccl"; "" before they have agreed.
  const char* way() const { return !agreed_ ? "" : link_ ? link_->transport().name() : "host"; }
  // Seconds for which the member has waited in finish() so far.
  double waited();

 private:
  struct Task {
    void (*work)(Group&, void*);
    void* context;
  };
  bool start() noexcept;
  void serve();
  void do_first(std::unique_lock<std::mutex>& lock);

  std::shared_ptr<Group> group_;
  std::mutex mutex_;
  std::condition_variable changed_;
  std::deque<Task> tasks_;  // the first one is under way
  int64_t begun_ = 0, done_ = 0;
  int waiting_ = 0;  // threads in finish()
  double waited_ = 0;
  std::exception_ptr error_;
  bool closing_ = false;
  std::thread thread_;  // from the first begin() on
  bool agreed_ = false;
  std::unique_ptr<DeviceLink> link_;
};

// The courier of this thread's worker; null outside of a pool, and for a pool of one.
Courier* current_courier();

// Makes a courier current on this thread for its lifetime.
class CourierScope {
 public:
  explicit CourierScope(Courier* courier);
  ~CourierScope();
  CourierScope(const CourierScope&) = delete;
  CourierScope& operator=(const CourierScope&) = delete;

 private:
  Courier* before_;
};

}  // namespace retrace
