#pragma once
// Data as a sequence of observations. An observation is a list of tensors, one for each variable (image, label, angle).

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "retrace/tensor/tensor.h"

namespace retrace {

using Observation = std::vector<Tensor>;

// What a target is.
enum class Task {
  classification,  // a target is the number of a class
  regression,      // a target is one value or several
};

// A file with data.
struct SourceFile {
  std::string path;
  std::string tag = {};  // of an object "s3://bucket/key": the storage's name of its content; "": it is on the disk
  uint64_t bytes = 0;    // of such an object
};

// The data behind a store; derive from it to read data of your own. A pass is one run over the data: what is random in
// a source is drawn anew for each pass and depends on (pass, sample) alone. A source does not change, and is asked by
// several threads at the same time, also ahead of time and for observations that are not used in the end: get() and
// gather() are const and safe for that. Of one that is not subsettable, a queue asks get() alone, on one thread, ahead
// of time, for 0, 1, 2, ... and, for a new pass or to go back, 0 again.
class DataSource {
 public:
  virtual ~DataSource() = default;
  virtual int64_t size() const = 0;   // observations
  virtual int variables() const = 0;  // tensors of an observation
  virtual Observation get(int64_t index, int64_t pass) const = 0;
  // The first `variables` variables of several observations, each stacked along a new first axis. The axis is labelled
  // B if the observation's tensor has labels or is a single number. By default it stacks the results of get().
  virtual std::vector<Tensor> gather(std::span<const int64_t> indices, int64_t pass, int variables) const;
  // A hash of the first pass over these observations in their order, to find sources that differ. It covers all of
  // small variables and a spread sample of large ones. By default it covers some observations, and is 0, for unknown,
  // if the source is not subsettable.
  virtual uint64_t digest(std::span<const int64_t> indices) const;
  // The files that the observations come from: a run keeps what they were. None: there are none, or nobody knows them.
  virtual std::vector<SourceFile> files() const { return {}; }
  // The number of observation `index` in the data set that this source is a view of.
  virtual int64_t sample(int64_t index) const { return index; }
  // How many of the first variable's entries along its first axis are the observation's own, where others stand behind
  // them as padding; -1: all of them.
  virtual int64_t length(int64_t) const { return -1; }
  // Whether that is so of variable `variable`, too: mini-batches of a bucket are cut in all such variables.
  virtual bool has_length(int variable) const { return variable == 0; }
  // The number of the class that variable `variable` of observation `index` is, where that is known without reading the
  // observation; -1: it is not.
  virtual int64_t known_label(int64_t, int) const { return -1; }
  // The number of transforms on top of each other.
  virtual int depth() const { return 0; }
  // The number of stores made of stores on top of each other.
  virtual int levels() const { return 0; }

  // Whether the observations are in memory, equal in every pass and alike in shape. Of such a source a queue may keep a
  // copy on a device; of others it makes mini-batches ahead of time, on threads of its own.
  virtual bool is_in_memory() const { return false; }

  virtual bool is_subsettable() const { return true; }
  virtual bool is_partitionable() const { return is_subsettable(); }
  virtual bool is_shuffleable() const { return is_subsettable(); }
};

// A source and a reading position. Copies share the source; each copy starts at the same position and reads on
// independently.
class Datastore {
 public:
  // Error(usage) for no source, and for one of more than 1000 stores made of stores.
  explicit Datastore(std::shared_ptr<const DataSource> source, Place place = Place::here());

  int64_t size() const { return source_->size(); }
  int variables() const { return source_->variables(); }

  // The next observation. Error(usage) at the end of the data.
  Observation read(Place place = Place::here());
  // The next `count` observations, fewer at the end of the data. Error(usage) if there is none, or count < 1.
  std::vector<Observation> read(int64_t count, Place place = Place::here());
  bool has_data() const { return next_ < size(); }
  // Goes back to the start; the next pass begins.
  void reset();
  // All observations of this pass, independent of the reading position.
  std::vector<Observation> read_all(Place place = Place::here()) const;
  // The first observation, or any other; the reading position stays. Error(usage) if there is no such observation.
  Observation preview(Place place = Place::here()) const;
  Observation get(int64_t index, Place place = Place::here()) const;

  // New stores over the same data; this one does not change. Error(usage) if the source cannot do it.

  // Part i (from 0) of n contiguous ones; the first size mod n parts have one observation more. The result of a
  // training on parts depends on n: for data-parallel training use MiniBatchQueue::share.
  Datastore partition(int64_t n, int64_t i, Place place = Place::here()) const;
  // The observations in another order, a function of the seed.
  Datastore shuffle(uint64_t seed, Place place = Place::here()) const;
  // The observations of these indices, in their order; an index may repeat.
  Datastore subset(std::span<const int64_t> indices, Place place = Place::here()) const;
  Datastore subset(std::initializer_list<int64_t> indices, Place place = Place::here()) const {
    return subset(std::span(indices.begin(), indices.size()), place);
  }

  bool is_partitionable() const { return source_->is_partitionable(); }
  bool is_subsettable() const { return source_->is_subsettable(); }
  bool is_shuffleable() const { return source_->is_shuffleable(); }
  // The largest n for which partition() gives no empty part; 1 if the store cannot be partitioned.
  int64_t num_partitions() const;

  const std::shared_ptr<const DataSource>& source() const { return source_; }
  // Properties that tell this store from others, as (name, text): samples, the spec of each variable, a digest of the
  // content. It takes milliseconds, however large the store is.
  std::vector<std::pair<std::string, std::string>> identity(const std::string& name) const;

 private:
  std::shared_ptr<const DataSource> source_;
  int64_t next_ = 0, pass_ = 0;
};

// How split_by_class and split_at_random draw.
struct SplitOptions {
  int label = 1;      // the variable that is the class, for split_by_class
  uint64_t seed = 0;  // 0 draws what data.test_share of a job does
};

// The observations as two stores: first those that train, then the share of them, above 0 and below 1, that is put
// aside for tests. A function of their number, their classes, the share and the seed: each class gives its share,
// rounded so that the sum is the share of all, and keeps one observation at least to train. Where the source does not
// know the classes, all observations are read once. Errors: usage for shares that are none, a variable that is no
// class, and stores that are not subsettable; bad_data where no observation may be put aside.
std::pair<Datastore, Datastore> split_by_class(const Datastore& data, double test_share,
                                               const SplitOptions& options = {}, Place place = Place::here());

// The same without regard to classes: the first of a random order are put aside. Errors: the same, but of classes.
std::pair<Datastore, Datastore> split_at_random(const Datastore& data, double test_share,
                                                const SplitOptions& options = {}, Place place = Place::here());

}  // namespace retrace
