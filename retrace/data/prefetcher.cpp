#include "retrace/data/prefetcher.h"

#include <algorithm>
#include <condition_variable>
#include <exception>
#include <mutex>
#include <utility>

#include "retrace/base/fp_environment.h"
#include "retrace/device/cpu/fast_mode.h"
#include "retrace/device/cpu/threads.h"
#include "retrace/trace/record.h"

namespace retrace {
namespace {

// A mini-batch, or why there is none.
struct Item {
  Prefetcher::Batch batch;
  std::exception_ptr error;
  bool ready = false;
};

// Throws nothing. The exception has left this function when another thread sees the item: no two threads handle it at
// the same time.
Item made_item(const Prefetcher::Make& make, int64_t i, std::optional<Mode> its_mode) noexcept {
  Item item;
  try {
    const FloatingPointScope floating_point;
    const ThreadCountScope one_thread(1);
    const OwnModeScope mode(its_mode);
    item.batch = make(i);
    evaluate();  // what user code recorded does not stay behind on this thread
  } catch (...) {
    item.error = std::current_exception();
  }
  item.ready = true;
  return item;
}

}  // namespace

struct Prefetcher::State {
  explicit State(size_t ahead) : items(ahead) {}

  // Makes what is there to make; the work of each thread.
  void work() {
    std::unique_lock lock(mutex);
    while (!ended && claimed < count && claimed < taken + static_cast<int64_t>(items.size())) {
      const int64_t i = claimed++, of = sequence;
      std::shared_ptr<const Make> own = make;
      const auto mode = its_mode;
      lock.unlock();
      Item item = made_item(*own, i, mode);
      own.reset();
      lock.lock();
      if (of == sequence) std::swap(items[static_cast<size_t>(i) % items.size()], item);
      changed.notify_all();
      lock.unlock();
      item = Item();  // a mini-batch that nobody wants is given back without the lock
      lock.lock();
    }
  }

  // Forgets the sequence; returns what was made of it, to be dropped without the lock.
  std::vector<Item> drop() {
    std::vector<Item> dropped(items.size());
    std::swap(items, dropped);
    ++sequence;
    claimed = taken = count = 0;
    make.reset();
    return dropped;
  }

  std::mutex mutex;
  std::condition_variable changed;
  std::shared_ptr<const Make> make;
  std::optional<Mode> its_mode;  // OwnModeScope::current() of the thread that takes the mini-batches
  std::vector<Item> items;       // a ring: mini-batch i has the place i modulo its size
  int64_t sequence = 0;          // the number of the present one
  int64_t count = 0;             // its mini-batches
  int64_t claimed = 0, taken = 0;
  bool ended = false;
};

Prefetcher::Prefetcher(int threads, int ahead)
    : state_(std::make_shared<State>(static_cast<size_t>(std::max({threads, ahead, 1})))) {
  for (int i = 0; i < threads; ++i)
    threads_.push_back(std::make_unique<Background>([state = state_] { state->work(); }));
}

Prefetcher::~Prefetcher() {
  const std::lock_guard lock(state_->mutex);
  state_->ended = true;
}

void Prefetcher::begin(Make make, int64_t count) {
  const auto shared = std::make_shared<const Make>(std::move(make));
  std::vector<Item> dropped;
  {
    const std::lock_guard lock(state_->mutex);
    dropped = state_->drop();
    state_->make = shared;
    state_->its_mode = OwnModeScope::current();
    state_->count = count;
  }
  ask();
}

std::optional<Prefetcher::Batch> Prefetcher::take() {
  if (!ask()) return std::nullopt;
  Item item;
  {
    std::unique_lock lock(state_->mutex);
    if (state_->taken == state_->count) return std::nullopt;
    Item& next = state_->items[static_cast<size_t>(state_->taken) % state_->items.size()];
    state_->changed.wait(lock, [&] { return next.ready; });
    item = std::exchange(next, Item());
    ++state_->taken;
    if (item.error) state_->count = state_->taken;  // the end of the sequence
  }
  if (item.error) std::rethrow_exception(std::exchange(item.error, nullptr));
  ask();
  return std::move(item.batch);
}

// Wakes the threads; false if there is none.
bool Prefetcher::ask() {
  bool any = false;
  for (const auto& thread : threads_) any = thread->ask() || any;
  return any;
}

}  // namespace retrace
