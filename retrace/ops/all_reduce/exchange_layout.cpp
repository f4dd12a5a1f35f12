#include "retrace/ops/all_reduce/exchange_layout.h"

#include <numeric>

namespace retrace {
namespace {

constexpr int64_t kUnit = 16;  // elements: slices begin at multiples of them
constexpr size_t kLeast = 64;  // bytes: no memory is empty, so that its address names an exchange

size_t aligned(size_t bytes) { return (bytes + 63) / 64 * 64; }

// Calls copy(tensor, offset in the tensor, offset in the slice, bytes) for the parts of a slice.
template <class Copy>
void for_each_part(const ExchangeLayout& layout, Range slice, const Copy& copy) {
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

}  // namespace

ExchangeShape::ExchangeShape(const ShardSplit& own, std::span<const TensorSpec* const> tensors, size_t sum_count)
    : split(own) {
  for (size_t i = 0; i < tensors.size(); ++i)
    if (i < sum_count)
      sums.push_back(tensors[i]->count()), element = size_of(tensors[i]->type);
    else
      gathered.push_back(tensors[i]->bytes());
}

ExchangeLayout::ExchangeLayout(const ExchangeShape& s) : shape(s) {
  const ShardSplit& split = s.split;
  for (int64_t w = 0; w < split.workers; ++w) {
    runs.push_back(split.runs(w));
    run_count += runs.back().size();
  }
  total = static_cast<size_t>(std::accumulate(s.sums.begin(), s.sums.end(), int64_t{0}));
  gather_bytes = std::accumulate(s.gathered.begin(), s.gathered.end(), size_t{0});
  give = kLeast;
  take = give + aligned(own().size() * total * s.element);
  result = take + aligned(run_count * static_cast<size_t>(slice(split.worker).count) * s.element);
  all = result + aligned(message(split.worker));
  bytes = all;
  for (int64_t w = 0; w < split.workers; ++w) bytes += aligned(message(w));
}

Range ExchangeLayout::slice(int64_t w) const {
  const auto count = static_cast<int64_t>(total);
  const Range units = part_of((count + kUnit - 1) / kUnit, shape.split.workers, w);
  const int64_t first = std::min(count, units.first * kUnit);
  return {first, std::min(count, first + units.count * kUnit) - first};
}

void ExchangeLayout::pack(const void* const* partials, char* memory, Copy copy) const {
  const size_t count = own().size(), tensors = shape.sums.size() + shape.gathered.size();
  const size_t stride = std::max<size_t>(1, count);  // partials of a tensor
  char* to = memory + give;
  for (int64_t w = 0; w < shape.split.workers; ++w)
    for (size_t run = 0; run < count; ++run, to += slice_bytes(w))
      for_each_part(*this, slice(w), [&](size_t t, size_t from, size_t offset, size_t part) {
        copy(to + offset, static_cast<const char*>(partials[t * stride + run]) + from, part);
      });
  to = memory + result + slice_bytes(shape.split.worker);
  for (size_t t = shape.sums.size(); t < tensors; ++t)
    for (size_t run = 0; run < count; ++run, to += shape.gathered[t - shape.sums.size()])
      copy(to, partials[t * stride + run], shape.gathered[t - shape.sums.size()]);
}

void ExchangeLayout::unpack(const char* memory, void* const* outputs, Copy copy) const {
  const char* from = memory + all;
  std::vector<size_t> filled(shape.gathered.size());
  for (int64_t w = 0; w < shape.split.workers; from += aligned(message(w)), ++w) {
    for_each_part(*this, slice(w), [&](size_t t, size_t to, size_t offset, size_t part) {
      copy(static_cast<char*>(outputs[t]) + to, from + offset, part);
    });
    const char* given = from + slice_bytes(w);
    for (size_t t = 0; t < shape.gathered.size(); ++t) {
      const size_t part = runs[static_cast<size_t>(w)].size() * shape.gathered[t];
      if (part) copy(static_cast<char*>(outputs[shape.sums.size() + t]) + filled[t], given, part);
      filled[t] += part, given += part;
    }
  }
}

ExchangeLayout::Messages ExchangeLayout::first_round(char* memory) const {
  Messages messages;
  char *from = memory + give, *to = memory + take;
  for (int64_t w = 0; w < shape.split.workers; ++w) {
    messages.sent.push_back({from, own().size() * slice_bytes(w)});
    messages.received.push_back({to, runs[static_cast<size_t>(w)].size() * slice_bytes(shape.split.worker)});
    from += messages.sent.back().bytes, to += messages.received.back().bytes;
  }
  return messages;
}

ExchangeLayout::Messages ExchangeLayout::second_round(char* memory) const {
  Messages messages;
  const int64_t worker = shape.split.worker;
  char* to = memory + all;
  for (int64_t w = 0; w < shape.split.workers; ++w) {
    messages.sent.push_back({memory + result, message(worker)});
    messages.received.push_back({to, message(w)});
    to += aligned(message(w));
  }
  return messages;
}

}  // namespace retrace
