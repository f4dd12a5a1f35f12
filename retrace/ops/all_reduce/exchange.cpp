#include "retrace/ops/all_reduce/exchange.h"

#include <fmt/format.h>

#include <cstring>
#include <memory>

#include "retrace/distributed/courier.h"
#include "retrace/distributed/device_link.h"
#include "retrace/ops/all_reduce/device_exchange.h"
#include "retrace/ops/all_reduce/exchange_layout.h"

namespace retrace {
namespace {

template <class T>
void add_to(T* to, const T* from, size_t count) {
  for (size_t i = 0; i < count; ++i) to[i] = to[i] + from[i];
}

// Adds the runs of this worker's slice; the root lies in the first.
void add_runs(const ExchangeLayout& layout, char* memory) {
  const ShardSplit& split = layout.shape.split;
  const size_t bytes = layout.slice_bytes(split.worker);
  std::vector<char*> items;
  for (size_t i = 0; i < layout.run_count; ++i) items.push_back(memory + layout.take + i * bytes);
  combine_runs(split.all_runs(), items, [&](char* left, const char* right) {
    if (layout.shape.element == 4)
      add_to(reinterpret_cast<float*>(left), reinterpret_cast<const float*>(right), bytes / 4);
    else
      add_to(reinterpret_cast<double*>(left), reinterpret_cast<const double*>(right), bytes / 8);
  });
  if (bytes) std::memcpy(memory + layout.result, items[0], bytes);
}

constexpr auto copy_on_host = [](void* to, const void* from, size_t bytes) { std::memcpy(to, from, bytes); };

// An exchange under way, known by the address of its memory.
struct Begun {
  ExchangeShape shape;
  ExchangeLayout layout;
  char* memory;
  int64_t number = 0;
  std::unique_ptr<DeviceExchange> on_device;  // where the memory is a device's
  bool linked = false;                        // members may be on devices or on the host
  Begun(const ExchangeShape& s, void* m) : shape(s), layout(shape), memory(static_cast<char*>(m)) {}
};

// The exchanges of this thread.
std::vector<std::unique_ptr<Begun>>& under_way() {
  thread_local std::vector<std::unique_ptr<Begun>> all;
  return all;
}

// The messages of devices and of the host are not the same. Throws on all members if some are here and some there.
void check_places(Group& group, bool on_device) {
  const char mine = on_device ? 1 : 0;
  std::vector<char> all(static_cast<size_t>(group.size()));
  group.all_gather(&mine, 1, all.data(), "all_reduce");
  for (size_t r = 1; r < all.size(); ++r)
    if (all[r] != all[0])
      throw Error(ErrorKind::usage, 808, "workers add what lies on CUDA devices and what lies on the CPU")
          .got(fmt::format("worker 0 on {}, worker {} on {}", all[0] ? "a device" : "the CPU", r,
                           all[r] ? "a device" : "the CPU"))
          .help("x.to(device) brings a tensor or a tree to a device; RETRACE_EXCHANGE=host takes both");
}

// The two rounds, on the courier's thread.
void travel(Group& group, void* context) {
  const Begun& begun = *static_cast<const Begun*>(context);
  if (begun.linked) check_places(group, begun.on_device != nullptr);
  if (begun.on_device) return begun.on_device->travel(group);
  if (begun.layout.total > 0) {
    const auto first = begun.layout.first_round(begun.memory);
    group.exchange(first.sent, first.received, "all_reduce");
    add_runs(begun.layout, begun.memory);
  }
  const auto second = begun.layout.second_round(begun.memory);
  group.exchange(second.sent, second.received, "all_gather");
}

}  // namespace

void start_exchange(const ExchangeShape& shape, const void* const* partials, void* memory) {
  Courier* const courier = current_courier();
  if (shape.split.workers > 1 &&
      (!courier || courier->size() != shape.split.workers || courier->rank() != shape.split.worker))
    throw Error(ErrorKind::usage, 227, "this was recorded for a worker of a pool, and runs outside of it")
        .help("call it inside of pool.spmd, by the worker that it was made for");
  DeviceLink* const link = LinkScope::current();
  if (courier && !link) courier->link(nullptr);
  auto begun = std::make_unique<Begun>(shape, memory);
  begun->linked = courier && courier->is_linked();
  if (link) {
    begun->on_device = std::make_unique<DeviceExchange>(*link, begun->layout, begun->memory);
    begun->on_device->start(partials);
  } else {
    begun->layout.pack(partials, begun->memory, copy_on_host);
  }
  Begun* const address = begun.get();
  under_way().push_back(std::move(begun));  // before the courier, who may not lose it
  if (courier && shape.split.workers > 1)
    address->number = courier->begin(travel, address);
  else
    travel(*single_group(), address);
}

void finish_exchange(void* memory, void* const* outputs) {
  auto& all = under_way();
  const auto at = std::find_if(all.begin(), all.end(), [&](const auto& one) { return one->memory == memory; });
  ensure(at != all.end(), "an exchange is finished once");
  const std::unique_ptr<Begun> begun = std::move(*at);
  all.erase(at);
  if (begun->number > 0) current_courier()->finish(begun->number);
  if (begun->on_device)
    begun->on_device->finish(outputs);
  else
    begun->layout.unpack(begun->memory, outputs, copy_on_host);
}

void abandon_exchanges(const char* why) noexcept {
  if (Courier* const courier = current_courier()) courier->abandon(why);
  under_way().clear();
}

int64_t exchange_bytes(const ExchangeShape& shape) { return static_cast<int64_t>(ExchangeLayout(shape).bytes); }

}  // namespace retrace
