#include "retrace/data/mini_batch_queue.h"

#include <fmt/format.h>

#include <algorithm>
#include <numeric>

#include "retrace/base/fp_environment.h"
#include "retrace/base/hash.h"
#include "retrace/data/batch_maker.h"
#include "retrace/data/in_order_source.h"
#include "retrace/data/mini_batch_order.h"
#include "retrace/data/prefetcher.h"
#include "retrace/data/random_stream.h"
#include "retrace/data/stack.h"
#include "retrace/trace/record.h"

namespace retrace {
namespace {

constexpr int kMostThreads = 256;
constexpr int64_t kMostAhead = 1 << 20;  // observations of a source that is read in order

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

void check_prefetch(const MiniBatchQueueOptions& options, Place place) {
  const int threads = options.prefetch_threads.value_or(0);
  if (threads < 0 || threads > kMostThreads)
    throw wrong(322, fmt::format("prefetch_threads is {}", threads), place)
        .expected(fmt::format("0 to {}", kMostThreads));
  if (options.prefetch_mini_batches < 1)
    throw wrong(322, fmt::format("prefetch_mini_batches is {}", options.prefetch_mini_batches), place)
        .expected("at least 1")
        .help("prefetch_threads = 0 makes each mini-batch when it is needed");
}

void check_buckets(const std::vector<int64_t>& buckets, const Datastore& store, Place place) {
  if (buckets.empty()) return;
  for (size_t i = 0; i < buckets.size(); ++i)
    if (buckets[i] < 1 || (i > 0 && buckets[i] <= buckets[i - 1]))
      throw wrong(322, fmt::format("buckets[{}] is {}", i, buckets[i]), place)
          .expected("lengths of 1 or more, each above the one before");
  if (!store.is_subsettable()) throw wrong(322, "buckets of a store that is read in its order", place);
  if (store.size() > 0 && store.source()->length(0) < 0)
    throw wrong(322, "buckets of observations that are all of one length", place)
        .help("a source whose observations differ in length says so: DataSource::length()");
}

}  // namespace

MiniBatchQueue::MiniBatchQueue(Datastore store, const MiniBatchQueueOptions& options, Place place)
    : store_(std::move(store)), options_(options) {
  check_size(options_.mini_batch_size, place);
  outputs_ = options_.outputs ? static_cast<int>(std::clamp<int64_t>(options_.outputs, -1, 1000)) : store_.variables();
  if (outputs_ < 1 || (!options_.mini_batch_function && outputs_ > store_.variables()))
    throw wrong(322, fmt::format("{} outputs from a store of {} variables", outputs_, store_.variables()), place)
        .help("give a mini_batch_function that makes them");
  check_count("formats", options_.formats.size(), outputs_, false, place);
  check_count("casts", options_.casts.size(), outputs_, false, place);
  check_count("labelled flags", options_.labelled.size(), outputs_, false, place);
  check_count("devices", options_.devices.size(), outputs_, true, place);
  check_formats(options_, place);
  for (const auto& device : options_.devices) find_device(device, 0, place);
  check_prefetch(options_, place);
  check_buckets(options_.buckets, store_, place);
  maker_ = std::make_shared<const BatchMaker>(store_.source(), options_, outputs_);
  members_.resize(static_cast<size_t>(store_.size()));
  std::iota(members_.begin(), members_.end(), int64_t{0});
  set_order();
}

MiniBatchQueue::Ahead& MiniBatchQueue::Ahead::operator=(const Ahead&) {
  prefetcher.reset();
  in_order.reset();
  return *this;
}

bool MiniBatchQueue::has_data() const {
  return order_->mini_batches(position_.next, options_.mini_batch_size, discards()) > 0;
}

void MiniBatchQueue::reset() {
  position_.next = 0;
  ++position_.passes;
  begin_ahead();
}

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
  device_orders_.clear();
  std::vector<int64_t> order = members_;
  if (position_.shuffles > 0) {
    const auto step = static_cast<uint64_t>(position_.shuffles);
    const std::vector<int64_t> places = random_order(size(), options_.seed, "queue shuffle", step);
    for (size_t i = 0; i < order.size(); ++i) order[i] = members_[static_cast<size_t>(places[i])];
  }
  order_ = std::make_shared<const MiniBatchOrder>(std::move(order), *store_.source(), options_.buckets,
                                                  options_.mini_batch_size);
}

MiniBatchQueue MiniBatchQueue::partition(int64_t n, int64_t i, Place place) const {
  if (!store_.is_partitionable())
    throw wrong(324, "partition: this store cannot be parted", place).help("copy it into an array store");
  if (n < 1 || i < 0 || i >= n)
    throw wrong(324, fmt::format("partition: there is no part {} of {}", i, n), place)
        .expected("n of at least 1, and a part from 0 to n-1");
  const Range part = part_of(size(), n, i);
  MiniBatchQueue queue = *this;
  const auto first = order_->indices().begin() + part.first;
  queue.members_.assign(first, first + part.count);
  queue.position_ = {0, position_.passes, 0};  // transforms go on drawing anew
  queue.set_order();
  // Otherwise parts of one size would be shuffled alike.
  queue.options_.seed = hash_combine(hash_combine(options_.seed, static_cast<uint64_t>(n)), static_cast<uint64_t>(i));
  return queue;
}

MiniBatchQueue MiniBatchQueue::share(const Worker& worker, int64_t shards, Place place) const {
  if (shards < 1) throw wrong(325, fmt::format("share: {} shards", shards), place).expected("at least 1");
  if (share_.count) throw wrong(325, "share: this queue is a worker's share already", place);
  const Range mine = worker.shards(shards);
  if (worker.size() > 1) worker.require_same("a shared mini-batch queue", identity(shards));
  MiniBatchQueue queue = *this;
  queue.share_ = {mine, shards};
  for (auto& device : queue.options_.devices) device = find_device(device, worker.index(), place).name();
  queue.device_rows_.reset();
  queue.kept_.reset();
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
  if (position == position_) return;
  const bool other_order = position.shuffles != position_.shuffles;
  position_ = position;
  if (other_order) set_order();
  if (!order_->begins_at(position_.next))
    throw wrong(326, "restore: no mini-batch begins at the saved position", place)
        .got(fmt::format("next {}", position.next))
        .help("restore it with the data, the mini_batch_size and the buckets that it was saved with");
  begin_ahead();
}

uint64_t MiniBatchQueue::digest(int64_t first, int64_t end) const {
  uint64_t sum = 0;
  for (int64_t place = first; place < std::min(end, size()); ++place)
    sum += mix64(static_cast<uint64_t>(place - first) * 0x9E3779B97F4A7C15ull +
                 static_cast<uint64_t>(store_.source()->sample(order_->indices()[static_cast<size_t>(place)])));
  return mix64(sum);
}

std::vector<int64_t> MiniBatchQueue::observations(int64_t first, int64_t end) const {
  const auto& all = order_->indices();
  return {all.begin() + std::min(first, size()), all.begin() + std::min(end, size())};
}

int64_t MiniBatchQueue::mini_batches() const { return order_->mini_batches(0, options_.mini_batch_size, discards()); }

std::vector<int64_t> MiniBatchQueue::next_sizes(int64_t count) const {
  std::vector<int64_t> sizes;
  const int64_t left = order_->mini_batches(position_.next, options_.mini_batch_size, discards());
  int64_t begin = position_.next;
  for (int64_t i = 0; i < std::min(count, left); ++i) {
    const int64_t end = order_->end_of(position_.next, i, options_.mini_batch_size);
    sizes.push_back(end - begin);
    begin = end;
  }
  return sizes;
}

void MiniBatchQueue::set_mini_batch_size(int64_t size, Place place) {
  check_size(size, place);
  if (!options_.buckets.empty() && size != options_.mini_batch_size)
    throw wrong(322, fmt::format("another mini_batch_size, {}, for a queue with buckets", size), place)
        .help("make a queue with that size");
  options_.mini_batch_size = size;
  begin_ahead();
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
  const int64_t end = order_->end_of(position_.next, 0, options_.mini_batch_size);
  const Piece piece = piece_of({position_.next, end - position_.next}, share_);
  std::vector<Tensor> outputs = with_place(place, [&] { return deliver(piece, count, place); });
  position_.next += piece.batch;
  return outputs;
}

MiniBatchQueue::Piece MiniBatchQueue::piece_of(Range batch, const Share& share) {
  if (share.count == 0) return {batch.count, batch};
  const int64_t first = part_of(batch.count, share.count, share.shards.first).first;
  const Range last = part_of(batch.count, share.count, share.shards.first + share.shards.count - 1);
  return {batch.count, {batch.first + first, last.first + last.count - first}, {batch.count, first}};
}

std::vector<Tensor> MiniBatchQueue::deliver(const Piece& piece, int count, Place place) {
  if (!device_rows_) device_rows_ = find_device_rows();
  // It is put back when the mini-batch is delivered: after an error the same one is made again.
  std::shared_ptr<Prefetcher> prefetcher = take_prefetcher(count);
  std::optional<std::vector<Tensor>> outputs;
  if (!device_rows_->empty())
    outputs = gather_on_devices(piece.mine, count);
  else if (prefetcher)
    outputs = prefetcher->take();
  if (!outputs) {  // there is none, or no thread for it
    prefetcher.reset();
    const int64_t length = order_->length_at(position_.next);
    outputs = maker().make(order_->indices(), piece.mine, position_.passes, count, length);
  }
  outputs->resize(static_cast<size_t>(count));
  for (int i = 0; i < count; ++i) {
    Tensor& output = (*outputs)[static_cast<size_t>(i)];
    output = finished(output, i, piece.part, piece.mine.count, place);
  }
  ahead_.prefetcher = std::move(prefetcher);
  return std::move(*outputs);
}

// The one that makes so many outputs, begun where the queue stands; null if mini-batches are not made ahead of time.
std::shared_ptr<Prefetcher> MiniBatchQueue::take_prefetcher(int count) {
  if (prefetch_threads() == 0 || !store_.is_subsettable() || !device_rows_->empty()) return nullptr;
  if (!ahead_.prefetcher || ahead_.outputs < count) {
    ahead_.prefetcher = std::make_shared<Prefetcher>(prefetch_threads(), options_.prefetch_mini_batches);
    ahead_.outputs = count;
    begin_ahead();
  }
  return std::move(ahead_.prefetcher);
}

// For what is made on this thread.
const BatchMaker& MiniBatchQueue::maker() {
  if (store_.is_subsettable()) return *maker_;
  if (!ahead_.in_order) {
    const int64_t ahead = prefetch_threads() > 0 ? options_.prefetch_mini_batches * options_.mini_batch_size : 0;
    const auto source = std::make_shared<InOrderSource>(store_.source(), std::min(ahead, kMostAhead));
    ahead_.in_order = std::make_shared<const BatchMaker>(source, options_, outputs_);
  }
  return *ahead_.in_order;
}

int MiniBatchQueue::prefetch_threads() const {
  const bool only_copies = store_.source()->is_in_memory() && !options_.mini_batch_function;
  return options_.prefetch_threads.value_or(only_copies ? 0 : 1);
}

// Has the mini-batches from here on made ahead of time, if that was begun before.
void MiniBatchQueue::begin_ahead() {
  if (!ahead_.prefetcher) return;
  ahead_.prefetcher->begin(
      [maker = maker_, order = order_, at = position_, size = options_.mini_batch_size, share = share_,
       outputs = ahead_.outputs](int64_t i) {
        const int64_t begin = i == 0 ? at.next : order->end_of(at.next, i - 1, size);
        const Range batch{begin, order->end_of(at.next, i, size) - begin};
        return maker->make(order->indices(), piece_of(batch, share).mine, at.passes, outputs, order->length_at(begin));
      },
      order_->mini_batches(position_.next, options_.mini_batch_size, discards()));
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
