#include "retrace/data/mini_batch_queue.h"

#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <numeric>

#include "retrace/base/fp_environment.h"
#include "retrace/base/hash.h"
#include "retrace/data/batch_format.h"
#include "retrace/data/checked_source.h"
#include "retrace/data/device_rows.h"
#include "retrace/data/random_stream.h"
#include "retrace/data/stack.h"
#include "retrace/trace/record.h"

namespace retrace {
namespace {

Error wrong(int code, std::string message, Place place) {
  return Error(ErrorKind::usage, code, "mini-batch queue: " + std::move(message)).where(place);
}

void check_size(int64_t size, Place place) {
  if (size < 1) throw wrong(322, fmt::format("mini_batch_size is {}", size), place).expected("at least 1");
}

void check_count(const char* option, size_t count, int outputs, bool one_for_all, Place place) {
  if (count == 0 || count == static_cast<size_t>(outputs) || (one_for_all && count == 1)) return;
  throw wrong(322, fmt::format("{} {} for {} output{}", count, option, outputs, outputs == 1 ? "" : "s"), place)
      .expected(fmt::format("{}{}, or none", outputs, one_for_all ? ", one for all" : ""));
}

void check_formats(const MiniBatchQueueOptions& options, Place place) {
  for (size_t i = 0; i < options.formats.size(); ++i) {
    const auto& format = options.formats[i];
    try {
      Labels labels(format);
    } catch (const Error& error) {
      throw wrong(323, fmt::format("formats[{}]: {}", i, error.message()), place);
    }
    if (!format.empty() && !options.labelled.empty() && !options.labelled[i])
      throw wrong(323, fmt::format("formats[{}] is \"{}\", but labelled[{}] is false", i, format, i), place)
          .help("leave the format empty, or let the output keep its labels");
  }
}

}  // namespace

MiniBatchQueue::MiniBatchQueue(Datastore store, MiniBatchQueueOptions options, Place place)
    : store_(std::move(store)), options_(std::move(options)) {
  check_size(options_.mini_batch_size, place);
  outputs_ = options_.outputs ? options_.outputs : store_.variables();
  if (outputs_ < 1 || (!options_.mini_batch_function && outputs_ > store_.variables()))
    throw wrong(322, fmt::format("{} outputs from a store of {} variables", outputs_, store_.variables()), place)
        .help("give a mini_batch_function that makes them");
  check_count("formats", options_.formats.size(), outputs_, false, place);
  check_count("casts", options_.casts.size(), outputs_, false, place);
  check_count("labelled flags", options_.labelled.size(), outputs_, false, place);
  check_count("devices", options_.devices.size(), outputs_, true, place);
  check_formats(options_, place);
  for (const auto& device : options_.devices) find_device(device, 0, place);
  members_.resize(static_cast<size_t>(store_.size()));
  std::iota(members_.begin(), members_.end(), int64_t{0});
  order_ = members_;
}

bool MiniBatchQueue::has_data() const {
  const int64_t left = size() - position_.next;
  return options_.partial == Partial::discard ? left >= options_.mini_batch_size : left > 0;
}

void MiniBatchQueue::reset() { position_.next = 0, ++position_.passes; }

void MiniBatchQueue::shuffle(Place place) {
  refuse_while_accelerated("a mini-batch queue", place);
  if (!store_.is_shuffleable())
    throw wrong(324, "shuffle: this store cannot be shuffled", place)
        .help("copy it into an array store, or use reset()");
  ++position_.shuffles;
  set_order();
  reset();
}

void MiniBatchQueue::set_order() {
  order_ = members_;
  device_orders_.clear();
  if (position_.shuffles == 0) return;
  const auto step = static_cast<uint64_t>(position_.shuffles);
  const std::vector<int64_t> places = random_order(size(), options_.seed, "queue shuffle", step);
  for (size_t i = 0; i < order_.size(); ++i) order_[i] = members_[static_cast<size_t>(places[i])];
}

MiniBatchQueue MiniBatchQueue::partition(int64_t n, int64_t i, Place place) const {
  if (!store_.is_partitionable())
    throw wrong(324, "partition: this store cannot be parted", place).help("copy it into an array store");
  if (n < 1 || i < 0 || i >= n)
    throw wrong(324, fmt::format("partition: there is no part {} of {}", i, n), place)
        .expected("n of at least 1, and a part from 0 to n-1");
  const Range part = part_of(size(), n, i);
  MiniBatchQueue queue = *this;
  queue.members_.assign(order_.begin() + part.first, order_.begin() + part.first + part.count);
  queue.position_ = {0, position_.passes, 0};  // transforms go on drawing anew
  queue.set_order();
  // Otherwise parts of one size would be shuffled alike.
  queue.options_.seed = hash_combine(hash_combine(options_.seed, static_cast<uint64_t>(n)), static_cast<uint64_t>(i));
  return queue;
}

MiniBatchQueue MiniBatchQueue::share(const Worker& worker, int shards, Place place) const {
  if (shards < 1) throw wrong(325, fmt::format("share: {} shards", shards), place).expected("at least 1");
  if (share_.count) throw wrong(325, "share: this queue is a worker's share already", place);
  const Range mine = worker.shards(shards);
  if (worker.size() > 1) worker.require_same("a shared mini-batch queue", identity(shards));
  MiniBatchQueue queue = *this;
  queue.share_ = {mine, shards};
  for (auto& device : queue.options_.devices) device = find_device(device, worker.index(), place).name();
  queue.device_rows_.reset();
  return queue;
}

void MiniBatchQueue::restore(const QueuePosition& position, Place place) {
  const bool possible = position.shuffles >= 0 && position.passes >= position.shuffles && position.next >= 0 &&
                        position.next <= size() && (position.shuffles == 0 || store_.is_shuffleable());
  if (!possible)
    throw wrong(326, "restore: this queue cannot be at the saved position", place)
        .got(fmt::format("shuffles {}, passes {}, next {}", position.shuffles, position.passes, position.next))
        .expected(fmt::format("0 <= shuffles <= passes, 0 <= next <= {}", size()))
        .help("restore it with the data that it was saved with");
  const bool other_order = position.shuffles != position_.shuffles;
  position_ = position;
  if (other_order) set_order();
}

int64_t MiniBatchQueue::mini_batches() const {
  const int64_t batch = options_.mini_batch_size;
  return options_.partial == Partial::discard ? size() / batch : size() / batch + (size() % batch != 0);
}

void MiniBatchQueue::set_mini_batch_size(int64_t size, Place place) {
  check_size(size, place);
  options_.mini_batch_size = size;
}

std::vector<Tensor> MiniBatchQueue::take(int count, Place place) {
  refuse_while_accelerated("a mini-batch queue", place);
  const FloatingPointScope floating_point;
  if (count > outputs_ || count < 0)
    throw wrong(327, fmt::format("next: {} outputs were asked for, and it has {}", count, outputs_), place);
  if (!has_data())
    throw wrong(328, "next: there is no mini-batch left, the end of the data is reached", place)
        .got(fmt::format("{} of {} observations delivered", position_.next, size()))
        .help("call reset() for the same order again, or shuffle() for a new one; has_data() tells beforehand");
  const int64_t batch = std::min(options_.mini_batch_size, size() - position_.next);
  Range mine{0, batch};
  BatchPart part;
  if (share_.count) {
    mine.first = part_of(batch, share_.count, share_.shards.first).first;
    const Range last = part_of(batch, share_.count, share_.shards.first + share_.shards.count - 1);
    mine.count = last.first + last.count - mine.first;
    part = {batch, mine.first};
  }
  const int64_t first = position_.next + mine.first;
  std::vector<Tensor> outputs = with_place(place, [&] { return deliver(first, mine.count, count, part, place); });
  position_.next += batch;
  return outputs;
}

std::vector<Tensor> MiniBatchQueue::deliver(int64_t first, int64_t samples, int count, BatchPart part, Place place) {
  if (!device_rows_) device_rows_ = make_device_rows(place);
  std::vector<Tensor> outputs;
  if (!device_rows_->empty())
    outputs = gather_on_devices(first, samples, count);
  else
    outputs =
        collate(std::span(order_).subspan(static_cast<size_t>(first), static_cast<size_t>(samples)), count, place);
  for (int i = 0; i < count; ++i) {
    Tensor& output = outputs[static_cast<size_t>(i)];
    if (device_rows_->empty()) output = formed(output, i, place);
    output = finished(output, i, part, samples, place);
  }
  return outputs;
}

// Whether each output goes to a CUDA device, and row i of it is made from observation i of a mini-batch alone.
bool MiniBatchQueue::delivers_rows() const {
  if (options_.mini_batch_function || !store_.source()->device_rows()) return false;
  if (store_.size() > std::numeric_limits<int32_t>::max()) return false;
  for (int i = 0; i < outputs_; ++i)
    if (device_of(i).id() == 0) return false;
  const std::vector<Tensor> none = checked_gather(*store_.source(), {}, 0, outputs_);
  for (size_t i = 0; i < options_.formats.size(); ++i) {
    const std::string& format = options_.formats[i];
    if (!format.empty() && (format.find('B') == std::string::npos || static_cast<int>(format.size()) < none[i].rank()))
      return false;
  }
  return true;
}

std::vector<Tensor> MiniBatchQueue::make_device_rows(Place place) const {
  if (!delivers_rows()) return {};
  std::vector<DeviceOutput> wanted;
  for (int i = 0; i < outputs_; ++i) {
    const auto k = static_cast<size_t>(i);
    wanted.push_back({device_of(i).id(), options_.casts.empty() ? std::nullopt : options_.casts[k],
                      options_.formats.empty() ? "" : options_.formats[k]});
  }
  return store_.source()->device_rows()->find(wanted, store_.size(), [&](std::span<const int64_t> indices) {
    std::vector<Tensor> outputs = checked_gather(*store_.source(), indices, 0, outputs_);
    for (int i = 0; i < outputs_; ++i)
      outputs[static_cast<size_t>(i)] = formed(outputs[static_cast<size_t>(i)], i, place);
    return outputs;
  });
}

std::vector<Tensor> MiniBatchQueue::gather_on_devices(int64_t first, int64_t count, int outputs) {
  std::vector<Tensor> batch;
  for (const Tensor& rows : std::span(*device_rows_).first(static_cast<size_t>(outputs))) {
    Tensor& order = device_orders_[rows.device().id()];
    if (!order.defined())
      order = Tensor::from(std::vector<int32_t>(order_.begin(), order_.end()), {size()}).to(rows.device());
    batch.push_back(gather_batch(rows, order, first, count));
  }
  return batch;
}

std::vector<Tensor> MiniBatchQueue::collate(std::span<const int64_t> indices, int count, Place place) const {
  if (!options_.mini_batch_function) return checked_gather(*store_.source(), indices, position_.passes, count);
  if (!indices.empty()) return call_function(indices, place);
  // For a worker without samples: the function's outputs for some observation, with that sample cut away.
  std::vector<Tensor> outputs = call_function(std::span(order_).first(1), place);
  for (auto& output : outputs) {
    if (output.rank() == 0) continue;
    const int axis = std::max(output.spec().labels.find('B'), 0);
    TensorSpec spec = output.spec();
    spec.shape[axis] = 0;
    output = BlankTensor(spec).tensor;
  }
  return outputs;
}

std::vector<Tensor> MiniBatchQueue::call_function(std::span<const int64_t> indices, Place place) const {
  std::vector<std::vector<Tensor>> lists(static_cast<size_t>(store_.variables()));
  for (int64_t index : indices) {
    const Observation observation = checked_get(*store_.source(), index, position_.passes);
    for (size_t v = 0; v < lists.size(); ++v) lists[v].push_back(observation[v]);
  }
  std::vector<Tensor> outputs = options_.mini_batch_function(lists);
  if (static_cast<int>(outputs.size()) != outputs_)
    throw wrong(329, fmt::format("the mini_batch_function returned {} tensors", outputs.size()), place)
        .expected(fmt::format("{}, one for each output", outputs_));
  return outputs;
}

Device& MiniBatchQueue::device_of(int number) const {
  if (options_.devices.empty()) return cpu_device();
  return find_device(options_.devices[options_.devices.size() == 1 ? 0 : static_cast<size_t>(number)]);
}

// Casts and permutes one output.
Tensor MiniBatchQueue::formed(const Tensor& output, int number, Place place) const {
  const auto i = static_cast<size_t>(number);
  output.compute(place);  // a mini_batch_function may return what it only recorded
  Tensor tensor = output;
  if (!options_.casts.empty() && options_.casts[i]) tensor = converted(tensor, *options_.casts[i]);
  const std::string format = options_.formats.empty() ? "" : options_.formats[i];
  if (!format.empty())
    tensor = with_format(tensor, options_.mini_batch_function ? format : stacked_format(format), place);
  return tensor;
}

// Gives one output its labels and its part of the mini-batch, and puts it on its device.
Tensor MiniBatchQueue::finished(const Tensor& output, int number, BatchPart part, int64_t samples, Place place) const {
  TensorSpec spec = output.spec();
  if (!options_.labelled.empty() && !options_.labelled[static_cast<size_t>(number)]) spec.labels = Labels();
  const int batch_axis = spec.labels.find('B');
  spec.part = batch_axis >= 0 ? part : BatchPart();
  if (part.whole && batch_axis >= 0 && spec.shape[batch_axis] != samples)
    throw wrong(
        325,
        fmt::format("output {} has {} samples, the worker's share has {}", number, spec.shape[batch_axis], samples),
        place)
        .help("a mini_batch_function of a shared queue keeps all observations");
  return (spec == output.spec() ? output : with_spec(output, spec)).to(device_of(number), place);
}

}  // namespace retrace
