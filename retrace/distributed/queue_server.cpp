#include "retrace/distributed/queue_server.h"

#include <fmt/format.h>

#include <algorithm>
#include <atomic>
#include <charconv>
#include <chrono>
#include <map>
#include <stdexcept>

#include "retrace/base/error.h"

namespace retrace {
namespace {

using Clock = std::chrono::steady_clock;

Clock::time_point end_of(double seconds) {
  return Clock::now() +
         std::chrono::duration_cast<Clock::duration>(std::chrono::duration<double>(std::min(seconds, 1e9)));
}

// The queues of this process, and, of ranks, how many items have travelled.
struct Registry {
  std::mutex mutex;
  std::map<int64_t, std::weak_ptr<QueueState>> queues;
  std::atomic<int64_t> made{0};
  std::vector<uint64_t> sent, received;  // by rank

  static Registry& get() {
    static Registry registry;
    return registry;
  }
  std::shared_ptr<QueueState> find(int64_t id) {
    const std::lock_guard lock(mutex);
    const auto found = queues.find(id);
    return found == queues.end() ? nullptr : found->second.lock();
  }
  void count(std::vector<uint64_t>& counts, int rank) {
    const std::lock_guard lock(mutex);
    counts.resize(std::max(counts.size(), static_cast<size_t>(rank) + 1));
    ++counts[static_cast<size_t>(rank)];
  }
  uint64_t counted(const std::vector<uint64_t>& counts, int rank) {
    const std::lock_guard lock(mutex);
    return static_cast<size_t>(rank) < counts.size() ? counts[static_cast<size_t>(rank)] : 0;
  }
};

thread_local Group* current_ranks = nullptr;

// The group of ranks that this thread is a worker of; null for others.
Group* ranks_of_thread() { return current_ranks; }

// A message to the queue of this number.
void take_in(const Message& message) {
  Registry& registry = Registry::get();
  registry.count(registry.received, message.from);
  int64_t id = 0;
  std::from_chars(message.kind.data(), message.kind.data() + message.kind.size(), id);
  // A queue that is gone here is read by nobody.
  if (const auto queue = registry.find(id)) queue->put(message.bytes);
}

void take_in_all(Group& ranks) {
  while (const auto message = ranks.take(kAny, kQueueTag)) take_in(*message);
}

// Those of this thread that still exist.
std::vector<std::shared_ptr<QueueState>> queues_of(QueueInbox& inbox) {
  const std::lock_guard lock(inbox.mutex);
  std::vector<std::shared_ptr<QueueState>> found;
  std::erase_if(inbox.queues, [&](const std::weak_ptr<QueueState>& queue) {
    auto there = queue.lock();
    if (there) found.push_back(std::move(there));
    return queue.expired();
  });
  return found;
}

void deliver_all(QueueInbox& inbox) {
  for (const auto& queue : queues_of(inbox)) queue->deliver();
}

}  // namespace

std::shared_ptr<QueueInbox> QueueInbox::of_this_thread() {
  thread_local const auto inbox = std::make_shared<QueueInbox>();
  return inbox;
}

bool QueueInbox::serve_until(FunctionRef<bool()> over, double seconds) {
  const auto end = end_of(seconds);
  std::unique_lock lock(mutex);
  for (uint64_t seen = news;; seen = news) {
    lock.unlock();
    deliver_all(*this);
    if (over()) return true;
    lock.lock();
    if (seconds < 0)
      changed.wait(lock, [&] { return news != seen; });
    else if (!changed.wait_until(lock, end, [&] { return news != seen; }))
      return over();
  }
}

void QueueInbox::tell() {
  {
    const std::lock_guard lock(mutex);
    ++news;
  }
  changed.notify_all();
}

QueueState::QueueState(int64_t id, int reader) : id_(id), reader_(reader), inbox_(QueueInbox::of_this_thread()) {}

std::shared_ptr<QueueState> QueueState::make(int reader) {
  Registry& registry = Registry::get();
  auto state = std::make_shared<QueueState>(registry.made++, reader);
  {
    const std::lock_guard lock(registry.mutex);
    std::erase_if(registry.queues, [](const auto& one) { return one.second.expired(); });
    registry.queues[state->id_] = state;
  }
  const std::lock_guard lock(state->inbox_->mutex);
  state->inbox_->queues.push_back(state);
  return state;
}

void QueueState::send(std::string item) {
  Group* const ranks = ranks_of_thread();
  if (!ranks || ranks->rank() == reader_) {
    put(std::move(item));
    return;
  }
  if (reader_ >= ranks->size())
    throw Error(ErrorKind::usage, 624, fmt::format("there is no worker {} to read the queue", reader_))
        .expected(fmt::format("0 to {}", ranks->size() - 1));
  Registry& registry = Registry::get();
  ranks->send(reader_, {.tag = kQueueTag, .kind = std::to_string(id_), .bytes = std::move(item)});
  registry.count(registry.sent, reader_);
}

void QueueState::put(std::string item) {
  bool called = false, first = false;
  {
    const std::lock_guard lock(mutex_);
    first = items_.empty();
    items_.push_back(std::move(item));
    called = !callbacks_.empty();
  }
  changed_.notify_all();
  if (!called) return;
  if (inbox_ == QueueInbox::of_this_thread())
    deliver();
  else if (first)  // whoever was told of another item takes this one, too
    inbox_->tell();
}

int64_t QueueState::length() {
  if (Group* const ranks = ranks_of_thread()) take_in_all(*ranks);
  const std::lock_guard lock(mutex_);
  return static_cast<int64_t>(items_.size());
}

std::optional<std::string> QueueState::poll(double seconds) {
  const auto end = end_of(seconds);
  Group* const ranks = ranks_of_thread();
  for (;;) {
    if (ranks) take_in_all(*ranks);
    std::unique_lock lock(mutex_);
    const auto step = ranks ? std::min(end, Clock::now() + std::chrono::milliseconds(1)) : end;
    if (changed_.wait_until(lock, step, [&] { return !items_.empty(); })) {
      std::string item = std::move(items_.front());
      items_.pop_front();
      return item;
    }
    if (Clock::now() >= end) return {};
  }
}

void QueueState::call_each(std::unique_ptr<AnyDataQueue::Callback> callback) {
  {
    const std::lock_guard lock(mutex_);
    callbacks_.push_back(std::move(callback));
  }
  if (inbox_ == QueueInbox::of_this_thread())
    deliver();
  else
    inbox_->tell();
}

void QueueState::deliver() {
  std::unique_lock lock(mutex_);
  if (delivering_) return;
  delivering_ = true;
  std::exception_ptr error;
  while (!error && !items_.empty() && !callbacks_.empty()) {
    const std::string item = std::move(items_.front());
    items_.pop_front();
    const auto callbacks = callbacks_;
    lock.unlock();
    try {
      for (const auto& callback : callbacks) callback->call(item);
    } catch (...) {
      error = std::current_exception();
    }
    lock.lock();
  }
  delivering_ = false;
  if (error) std::rethrow_exception(error);
}

AnyDataQueue::AnyDataQueue(int reader) {
  if (reader < 0)
    throw Error(ErrorKind::usage, 624, fmt::format("there is no worker {} to read the queue", reader))
        .expected("0 or more");
  state_ = QueueState::make(reader);
}
int64_t AnyDataQueue::length() const { return state_->length(); }
void AnyDataQueue::send_bytes(std::string item) const { state_->send(std::move(item)); }
std::optional<std::string> AnyDataQueue::poll_bytes(double seconds) const { return state_->poll(seconds); }
void AnyDataQueue::call_each(std::unique_ptr<Callback> callback) const { state_->call_each(std::move(callback)); }

RanksScope::RanksScope(Group& group) : before_(current_ranks) {
  if (!group.is_local()) current_ranks = &group;
}
RanksScope::~RanksScope() { current_ranks = before_; }

void serve_queues() {
  if (Registry::get().made == 0) return;
  if (Group* const ranks = ranks_of_thread()) take_in_all(*ranks);
  deliver_all(*QueueInbox::of_this_thread());
}

void finish_queues(Group& group) {
  Registry& registry = Registry::get();
  if (registry.made == 0) return;
  const auto size = static_cast<size_t>(group.size());
  std::vector<uint64_t> mine(size), all(size * size);
  for (size_t r = 0; r < size; ++r) mine[r] = registry.counted(registry.sent, static_cast<int>(r));
  group.all_gather(mine.data(), size * sizeof mine[0], all.data(), "the end of spmd");
  for (size_t r = 0; r < size; ++r)
    while (registry.counted(registry.received, static_cast<int>(r)) < all[r * size + static_cast<size_t>(group.rank())])
      take_in(group.receive(static_cast<int>(r), kQueueTag));
  deliver_all(*QueueInbox::of_this_thread());
}

QueueServer::QueueServer() : inbox_(QueueInbox::of_this_thread()) {}

void QueueServer::done() {
  ++done_;
  inbox_->tell();
}

std::exception_ptr QueueServer::serve(size_t count, FunctionRef<void(const std::exception&)> failed) {
  std::exception_ptr error;
  const auto over = [&] { return done_ == count; };
  try {
    inbox_->serve_until(over, -1);
  } catch (const std::exception& thrown) {
    error = std::current_exception();
    failed(thrown);
  } catch (...) {
    error = std::current_exception();
    failed(std::runtime_error("an unknown error"));
  }
  return error;
}

}  // namespace retrace
