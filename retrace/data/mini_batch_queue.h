#pragma once
// Mini-batches of a store, ready for a training step.

#include <array>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "retrace/data/datastore.h"
#include "retrace/distributed/worker.h"

namespace retrace {

class BatchMaker;      // retrace/data/batch_maker.h
class MiniBatchOrder;  // retrace/data/mini_batch_order.h
class DeviceRows;      // retrace/data/device_rows.h
class Prefetcher;      // retrace/data/prefetcher.h

// What happens to the last mini-batch when it is short.
enum class Partial { keep, discard };

// Gets, for each variable of the store, the tensors of the mini-batch's observations; returns one tensor for each
// output of the queue. It depends on its arguments alone. Other threads than the queue's call it, ahead of time and
// several at the same time, unless MiniBatchQueueOptions::prefetch_threads is 0.
using MiniBatchFunction = std::function<std::vector<Tensor>(const std::vector<std::vector<Tensor>>&)>;

// Options of MiniBatchQueue.
struct MiniBatchQueueOptions {
  int64_t mini_batch_size = 128;
  Partial partial_mini_batch = Partial::keep;
  // Ascending lengths: a mini-batch has observations of one bucket, those whose DataSource::length() is at most that of
  // the bucket and above that of the one before; longer ones are a bucket of their own. Outputs that have
  // lengths (DataSource::has_length()) keep that many entries of each observation; a mini_batch_function gets whole
  // observations. Each bucket may have a short mini-batch. No bit depends on workers. For the order see
  // docs/numerics/random.md. Empty: no buckets.
  std::vector<int64_t> buckets = {};
  MiniBatchFunction mini_batch_function = {};  // none: observations are stacked along a new axis B
  // Labels of the axes, one text for each output, or none. For a stacked output, B is the batch, at any position of the
  // text; the other labels are those of an observation's axes in order, and surplus ones make axes of size 1. For an
  // output of mini_batch_function they are its axes in order. "" keeps the labels of the data.
  std::vector<std::string> formats = {};
  std::vector<std::optional<DType>> casts = {};  // one for each output, or none; nullopt keeps the type
  std::vector<bool> labelled = {};               // one for each output, or none; false takes the labels away
  // One device for each output or one for all; none: the CPU. If all are CUDA devices, and the observations are in
  // memory, the same in every pass, and fit (retrace/data/device_rows.h), they are copied to the devices once, in the
  // form in which they are delivered (cast, images as f32), and kept as long as a queue over the store that delivered
  // them. After that only the order is copied, once for each shuffle().
  std::vector<std::string> devices = {};
  int64_t outputs = 0;  // 0: as many as the store has variables; fewer: the first ones. At most 1000
  uint64_t seed = 0;    // of the order
  // Threads that make the next mini-batches while the present one is used. No bit depends on their number. By default 0
  // for a store in memory, whose observations are only copied, and 1 for any other store or with a mini_batch_function.
  // The observations of a store that is not subsettable are read by one thread, in their order, and made mini-batches
  // where they are needed. 0 where the system gives no thread.
  std::optional<int> prefetch_threads = {};
  int prefetch_mini_batches = 2;  // made ahead of time at most; with more threads one for each
};

// How far a queue has come in the data; save it with a checkpoint.
struct QueuePosition {
  int64_t shuffles = 0;  // calls of shuffle() so far: with the seed they determine the order
  int64_t passes = 0;    // calls of shuffle() and reset() so far: what transforms draw depends on them
  int64_t next = 0;      // the first observation, in that order, that was not delivered
  bool operator==(const QueuePosition&) const = default;
};

// Delivers the observations of a store in mini-batches. The order is that of the store until the first shuffle(); the
// k-th shuffle gives an order that depends on (seed, k) alone. A queue belongs to one thread. A copy starts at the same
// position and advances independently. Mini-batches are made ahead of time: next() waits only for what is not ready,
// and throws the errors of the mini-batch that it would return.
class MiniBatchQueue {
 public:
  // Error(usage) names the option: sizes below 1, a wrong number of formats, casts, flags or devices, wrong labels,
  // more outputs than variables; Error(unavailable) for a device that is absent.
  explicit MiniBatchQueue(Datastore store, const MiniBatchQueueOptions& options = {}, Place place = Place::here());

  // The outputs of the next mini-batch, cast and then labelled in canonical order; next<N>() gives the first N of them.
  // Error(usage) at the end of the data, or if N exceeds outputs(); the queue then stays where it is.
  std::vector<Tensor> next(Place place = Place::here()) { return take(outputs_, place); }
  template <int N>
  std::array<Tensor, N> next(Place place = Place::here()) {
    const std::vector<Tensor> taken = take(N, place);
    std::array<Tensor, N> batch;
    for (int i = 0; i < N; ++i) batch[static_cast<size_t>(i)] = taken[static_cast<size_t>(i)];
    return batch;
  }
  // False at the end, and before a short mini-batch that is discarded.
  bool has_data() const;
  // Goes back to the start of the current order; the next pass begins.
  void reset();
  // Takes a new order and goes to its start; the next pass begins. Error(usage) if the store cannot be shuffled.
  void shuffle(Place place = Place::here());

  // A queue over part i (from 0) of n contiguous parts of the current order, with the same options; its shuffles stay
  // inside the part. The result of a training on parts depends on n: see share(). Error(usage) for a wrong part, or if
  // the store cannot be partitioned.
  MiniBatchQueue partition(int64_t n, int64_t i, Place place = Place::here()) const;
  // A queue that delivers, of each mini-batch, the samples of this worker's run of `shards` shards. It begins where
  // this queue stands, and has its order, its end and its mini-batches. Tensors with an axis B know the size of the
  // whole mini-batch and the position of their first sample in it. A worker without samples gets tensors without any.
  // If the option names several devices ("cuda"), the tensors are on this worker's device. All workers call it
  // together: Error(usage) names what differs between them (options, position, data), and is thrown for more workers
  // than shards.
  MiniBatchQueue share(const Worker& worker, int64_t shards, Place place = Place::here()) const;

  QueuePosition position() const { return position_; }
  // A digest of the observations from place `first` up to `end` of the current order, by their numbers in the data set
  // (docs/numerics.md 9): QueuePosition::next before and after a mini-batch say which they are, for all workers.
  uint64_t digest(int64_t first, int64_t end) const;
  // The numbers of these observations in the store.
  std::vector<int64_t> observations(int64_t first, int64_t end) const;
  // Goes on exactly as the queue that gave the position, if store, options and parts are the same. Error(usage) for a
  // position that this queue cannot have.
  void restore(const QueuePosition& position, Place place = Place::here());

  int64_t size() const { return static_cast<int64_t>(members_.size()); }  // observations
  int outputs() const { return outputs_; }
  // Mini-batches from the start to the end of the data.
  int64_t mini_batches() const;
  // The numbers of observations, of all workers together, of the next `count` mini-batches, or of those that are left.
  std::vector<int64_t> next_sizes(int64_t count) const;
  int64_t mini_batch_size() const { return options_.mini_batch_size; }
  // Error(usage) below 1, and with buckets.
  void set_mini_batch_size(int64_t size, Place place = Place::here());
  const Datastore& store() const { return store_; }

 private:
  struct Share {
    Range shards;       // of this worker
    int64_t count = 0;  // of all; 0: the queue is not shared
  };
  // What is delivered for the mini-batch at a position.
  struct Piece {
    int64_t batch = 0;  // observations of all workers
    Range mine;         // of the order
    BatchPart part = {};
  };
  // The threads that work ahead for one queue: a copy of the queue has its own.
  struct Ahead {
    Ahead() = default;
    Ahead(const Ahead&) {}
    Ahead& operator=(const Ahead&);
    std::shared_ptr<Prefetcher> prefetcher;
    int outputs = 0;                             // that it makes
    std::shared_ptr<const BatchMaker> in_order;  // of a store that is read in order
  };
  static Piece piece_of(Range batch, const Share& share);
  bool discards() const { return options_.partial_mini_batch == Partial::discard; }
  NamedValues identity(int64_t shards) const;
  std::vector<Tensor> take(int count, Place place);
  std::vector<Tensor> deliver(const Piece& piece, int count, Place place);
  std::shared_ptr<Prefetcher> take_prefetcher(int count);
  const BatchMaker& maker();
  int prefetch_threads() const;
  void begin_ahead();
  Tensor finished(const Tensor& output, int number, BatchPart part, int64_t samples, Place place) const;
  Device& device_of(int number) const;
  bool delivers_rows() const;
  std::vector<Tensor> find_device_rows();
  std::vector<Tensor> gather_on_devices(Range samples, int outputs);
  void set_order();

  Datastore store_;
  MiniBatchQueueOptions options_;
  int outputs_ = 0;
  std::shared_ptr<const BatchMaker> maker_;
  std::vector<int64_t> members_;  // observations of the store that this queue delivers, in their first order
  std::shared_ptr<const MiniBatchOrder> order_;  // the same in the current order
  // The outputs of the whole store on CUDA devices, empty if they are not kept there, and the order beside them; made
  // when they are needed.
  std::shared_ptr<DeviceRows> kept_;
  std::optional<std::vector<Tensor>> device_rows_;
  std::map<DeviceId, Tensor> device_orders_;
  QueuePosition position_;
  Share share_;
  Ahead ahead_;
};

}  // namespace retrace
