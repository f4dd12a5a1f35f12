#include "retrace/ops/all_reduce/exchange.h"

#include <algorithm>
#include <cstring>
#include <memory>
#include <numeric>

#include "retrace/distributed/courier.h"

namespace retrace {
namespace {

constexpr int64_t kUnit = 16;  // elements: slices begin at multiples of them

size_t aligned(size_t bytes) { return (bytes + 63) / 64 * 64; }

// Where everything lies in the memory of an exchange. A worker's message of the second round is its slice of the sums
// with what it gives to gather behind it.
struct Layout {
  const ExchangeShape& shape;
  std::vector<std::vector<Range>> runs;  // of each worker
  size_t run_count = 0, total = 0, gather_bytes = 0;
  size_t give, take, result, all, bytes;  // offsets

  explicit Layout(const ExchangeShape& s) : shape(s) {
    const ShardSplit& split = s.split;
    for (int64_t w = 0; w < split.workers; ++w) {
      runs.push_back(split.runs(w));
      run_count += runs.back().size();
    }
    total = static_cast<size_t>(std::accumulate(s.sums.begin(), s.sums.end(), int64_t{0}));
    gather_bytes = std::accumulate(s.gathered.begin(), s.gathered.end(), size_t{0});
    give = aligned(sizeof(void*));
    take = give + aligned(own().size() * total * s.element);
    result = take + aligned(run_count * static_cast<size_t>(slice(split.worker).count) * s.element);
    all = result + aligned(message(split.worker));
    bytes = all;
    for (int64_t w = 0; w < split.workers; ++w) bytes += aligned(message(w));
  }
  const std::vector<Range>& own() const { return runs[static_cast<size_t>(shape.split.worker)]; }
  // The elements that a worker adds.
  Range slice(int64_t w) const {
    const auto count = static_cast<int64_t>(total);
    const Range units = part_of((count + kUnit - 1) / kUnit, shape.split.workers, w);
    const int64_t first = std::min(count, units.first * kUnit);
    return {first, std::min(count, first + units.count * kUnit) - first};
  }
  size_t slice_bytes(int64_t w) const { return static_cast<size_t>(slice(w).count) * shape.element; }
  size_t message(int64_t w) const { return slice_bytes(w) + runs[static_cast<size_t>(w)].size() * gather_bytes; }
};

// Calls copy(tensor, offset in the tensor, offset in the slice, bytes) for the parts of a slice.
template <class Copy>
void for_each_part(const Layout& layout, Range slice, const Copy& copy) {
  const size_t element = layout.shape.element;
  int64_t first = 0;
  for (size_t t = 0; t < layout.shape.sums.size(); first += layout.shape.sums[t++]) {
    const int64_t begin = std::max(first, slice.first);
    const int64_t end = std::min(first + layout.shape.sums[t], slice.first + slice.count);
    if (begin < end)
      copy(t, static_cast<size_t>(begin - first) * element, static_cast<size_t>(begin - slice.first) * element,
           static_cast<size_t>(end - begin) * element);
  }
}

template <class T>
void add_to(T* to, const T* from, size_t count) {
  for (size_t i = 0; i < count; ++i) to[i] = to[i] + from[i];
}

// Adds the runs of this worker's slice; the root lies in the first.
void add_runs(const Layout& layout, char* memory) {
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

// An exchange under way; its address stands at the start of the memory.
struct Begun {
  ExchangeShape shape;
  Layout layout;
  char* memory;
  int64_t number = 0;
  Begun(const ExchangeShape& s, void* m) : shape(s), layout(shape), memory(static_cast<char*>(m)) {}
};

// The exchanges of this thread.
std::vector<std::unique_ptr<Begun>>& under_way() {
  thread_local std::vector<std::unique_ptr<Begun>> all;
  return all;
}

// The two rounds, on the courier's thread.
void travel(Group& group, void* context) {
  const Begun& begun = *static_cast<const Begun*>(context);
  const Layout& layout = begun.layout;
  char* const memory = begun.memory;
  const int64_t workers = layout.shape.split.workers, own = layout.shape.split.worker;
  std::vector<Sent> sent;
  std::vector<Received> received;
  char *give = memory + layout.give, *take = memory + layout.take, *all = memory + layout.all;
  for (int64_t w = 0; w < workers; ++w) {
    sent.push_back({give, layout.own().size() * layout.slice_bytes(w)});
    received.push_back({take, layout.runs[static_cast<size_t>(w)].size() * layout.slice_bytes(own)});
    give += sent.back().bytes, take += received.back().bytes;
  }
  if (layout.total > 0) {
    group.exchange(sent, received, "all_reduce");
    add_runs(layout, memory);
  }
  sent.assign(static_cast<size_t>(workers), {memory + layout.result, layout.message(own)});
  for (int64_t w = 0; w < workers; ++w) {
    received[static_cast<size_t>(w)] = {all, layout.message(w)};
    all += aligned(layout.message(w));
  }
  group.exchange(sent, received, "all_gather");
}

}  // namespace

ExchangeShape::ExchangeShape(const ShardSplit& own, std::span<const TensorSpec* const> tensors, size_t sum_count)
    : split(own) {
  for (size_t i = 0; i < tensors.size(); ++i)
    if (i < sum_count)
      sums.push_back(tensors[i]->count()), element = size_of(tensors[i]->type);
    else
      gathered.push_back(tensors[i]->bytes());
}

void start_exchange(const ExchangeShape& shape, const void* const* partials, void* memory) {
  Courier* const courier = current_courier();
  if (shape.split.workers > 1 &&
      (!courier || courier->size() != shape.split.workers || courier->rank() != shape.split.worker))
    throw Error(ErrorKind::usage, 227, "this was recorded for a worker of a pool, and runs outside of it")
        .help("call it inside of pool.spmd, by the worker that it was made for");
  auto begun = std::make_unique<Begun>(shape, memory);
  const Layout& layout = begun->layout;
  const size_t runs = layout.own().size(), tensors = shape.sums.size() + shape.gathered.size();
  const size_t stride = std::max<size_t>(1, runs);  // partials of a tensor
  char* to = begun->memory + layout.give;
  for (int64_t w = 0; w < shape.split.workers; ++w)
    for (size_t run = 0; run < runs; ++run, to += layout.slice_bytes(w))
      for_each_part(layout, layout.slice(w), [&](size_t t, size_t from, size_t offset, size_t bytes) {
        std::memcpy(to + offset, static_cast<const char*>(partials[t * stride + run]) + from, bytes);
      });
  to = begun->memory + layout.result + layout.slice_bytes(shape.split.worker);
  for (size_t t = shape.sums.size(); t < tensors; ++t)
    for (size_t run = 0; run < runs; ++run, to += shape.gathered[t - shape.sums.size()])
      std::memcpy(to, partials[t * stride + run], shape.gathered[t - shape.sums.size()]);
  Begun* const address = begun.get();
  std::memcpy(memory, &address, sizeof address);
  under_way().push_back(std::move(begun));  // before the courier, who may not lose it
  if (courier && shape.split.workers > 1)
    address->number = courier->begin(travel, address);
  else
    travel(*single_group(), address);
}

void finish_exchange(void* memory, void* const* outputs) {
  Begun* address;
  std::memcpy(&address, memory, sizeof address);
  auto& all = under_way();
  const auto at = std::find_if(all.begin(), all.end(), [&](const auto& one) { return one.get() == address; });
  ensure(at != all.end(), "an exchange is finished once");
  const std::unique_ptr<Begun> begun = std::move(*at);
  all.erase(at);
  const Layout& layout = begun->layout;
  const ExchangeShape& shape = begun->shape;
  if (begun->number > 0) current_courier()->finish(begun->number);
  const char* from = begun->memory + layout.all;
  std::vector<size_t> filled(shape.gathered.size());
  for (int64_t w = 0; w < shape.split.workers; from += aligned(layout.message(w)), ++w) {
    for_each_part(layout, layout.slice(w), [&](size_t t, size_t to, size_t offset, size_t bytes) {
      std::memcpy(static_cast<char*>(outputs[t]) + to, from + offset, bytes);
    });
    const char* given = from + layout.slice_bytes(w);
    for (size_t t = 0; t < shape.gathered.size(); ++t) {
      const size_t bytes = layout.runs[static_cast<size_t>(w)].size() * shape.gathered[t];
      if (bytes) std::memcpy(static_cast<char*>(outputs[shape.sums.size() + t]) + filled[t], given, bytes);
      filled[t] += bytes, given += bytes;
    }
  }
}

void abandon_exchanges(const char* why) noexcept {
  if (Courier* const courier = current_courier()) courier->abandon(why);
  under_way().clear();
}

int64_t exchange_bytes(const ExchangeShape& shape) { return static_cast<int64_t>(Layout(shape).bytes); }

}  // namespace retrace
