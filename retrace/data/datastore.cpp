#include "retrace/data/datastore.h"

#include <fmt/format.h>

#include <algorithm>
#include <numeric>

#include "retrace/base/hash.h"
#include "retrace/base/range.h"
#include "retrace/data/checked_source.h"
#include "retrace/data/random_stream.h"
#include "retrace/data/stack.h"
#include "retrace/tensor/fingerprint.h"
#include "retrace/trace/record.h"

namespace retrace {
namespace {

// Some observations of another source, in any order.
class SubsetSource : public DataSource {
 public:
  SubsetSource(std::shared_ptr<const DataSource> whole, std::vector<int64_t> indices)
      : whole_(std::move(whole)), indices_(std::move(indices)) {}
  int64_t size() const override { return static_cast<int64_t>(indices_.size()); }
  int variables() const override { return whole_->variables(); }
  Observation get(int64_t index, int64_t pass) const override { return checked_get(*whole_, at(index), pass); }
  std::vector<Tensor> gather(std::span<const int64_t> indices, int64_t pass, int variables) const override {
    std::vector<int64_t> mapped(indices.size());
    std::transform(indices.begin(), indices.end(), mapped.begin(), [&](int64_t i) { return at(i); });
    return checked_gather(*whole_, mapped, pass, variables);
  }
  uint64_t digest(std::span<const int64_t> indices) const override {
    std::vector<int64_t> mapped(indices.size());
    std::transform(indices.begin(), indices.end(), mapped.begin(), [&](int64_t i) { return at(i); });
    return whole_->digest(mapped);
  }
  std::vector<SourceFile> files() const override { return whole_->files(); }
  int64_t sample(int64_t index) const override { return whole_->sample(at(index)); }
  int64_t length(int64_t index) const override { return whole_->length(at(index)); }
  bool has_length(int variable) const override { return whole_->has_length(variable); }
  int64_t known_label(int64_t index, int variable) const override { return whole_->known_label(at(index), variable); }
  int depth() const override { return whole_->depth(); }
  int levels() const override { return whole_->levels() + 1; }
  bool is_in_memory() const override { return whole_->is_in_memory(); }

 private:
  int64_t at(int64_t index) const { return indices_[static_cast<size_t>(index)]; }
  std::shared_ptr<const DataSource> whole_;
  std::vector<int64_t> indices_;
};

void require(bool can, const char* call, const char* why, Place place) {
  if (can) return;
  throw Error(ErrorKind::usage, 312, fmt::format("{}: this store {}", call, why))
      .where(place)
      .help("copy it into an array store, or let its source answer in any order");
}

}  // namespace

std::vector<Tensor> DataSource::gather(std::span<const int64_t> indices, int64_t pass, int variables) const {
  const auto count = static_cast<size_t>(variables);
  std::vector<Tensor> batch;
  if (indices.empty()) {
    const Observation one = size() ? checked_get(*this, 0, pass) : Observation(count, Tensor::zeros({}));
    for (size_t v = 0; v < count; ++v) batch.push_back(BlankTensor(stacked_spec(one[v].spec(), 0)).tensor);
    return batch;
  }
  std::vector<std::vector<Tensor>> lists(count);
  for (int64_t index : indices) {
    const Observation one = checked_get(*this, index, pass);
    for (size_t v = 0; v < count; ++v) lists[v].push_back(one[v]);
  }
  for (size_t v = 0; v < count; ++v) batch.push_back(stack_samples(lists[v], static_cast<int>(v)));
  return batch;
}

uint64_t DataSource::digest(std::span<const int64_t> indices) const {
  constexpr size_t kMost = 32;
  if (!is_subsettable()) return 0;
  uint64_t hash = indices.size();
  for (size_t i = 0; i < std::min(kMost, indices.size()); ++i) {
    // The first and the last are among them.
    const size_t at = indices.size() <= kMost ? i : i * (indices.size() - 1) / (kMost - 1);
    for (const Tensor& variable : checked_get(*this, indices[at], 0))
      hash = hash_combine(hash, fingerprint_value("", variable));
  }
  return hash | 1;
}

std::vector<std::pair<std::string, std::string>> Datastore::identity(const std::string& name) const {
  std::vector<std::pair<std::string, std::string>> values{{name + " samples", fmt::format("{}", size())},
                                                          {name + " variables", fmt::format("{}", variables())}};
  if (size() == 0 || !is_subsettable()) return values;
  const Observation first = checked_get(*source_, 0, 0);
  for (size_t v = 0; v < first.size(); ++v)
    values.emplace_back(fmt::format("{} variable {}", name, v), first[v].spec().text());
  std::vector<int64_t> all(static_cast<size_t>(size()));
  std::iota(all.begin(), all.end(), int64_t{0});
  const uint64_t digest = source_->digest(all);
  values.emplace_back(name + " content", digest ? hexadecimal(digest) : "");
  return values;
}

Datastore::Datastore(std::shared_ptr<const DataSource> source, Place place) : source_(std::move(source)) {
  check_source(source_.get(), place);
}

Observation Datastore::read(Place place) {
  refuse_while_accelerated("a datastore", place);
  if (!has_data())
    throw Error(ErrorKind::usage, 311, fmt::format("read: the store has no more data after {} observations", size()))
        .where(place)
        .help("call reset() to read from the start, or ask has_data() first");
  Observation next = with_place(place, [&] { return checked_get(*source_, next_, pass_); });
  ++next_;
  return next;
}

std::vector<Observation> Datastore::read(int64_t count, Place place) {
  if (count < 1)
    throw Error(ErrorKind::usage, 311, fmt::format("read: {} observations were asked for", count))
        .where(place)
        .expected("at least 1");
  std::vector<Observation> chunk = {read(place)};
  while (has_data() && static_cast<int64_t>(chunk.size()) < count) chunk.push_back(read(place));
  return chunk;
}

void Datastore::reset() { next_ = 0, ++pass_; }

std::vector<Observation> Datastore::read_all(Place place) const {
  refuse_while_accelerated("a datastore", place);
  std::vector<Observation> all;
  for (int64_t i = 0; i < size(); ++i)
    all.push_back(with_place(place, [&] { return checked_get(*source_, i, pass_); }));
  return all;
}

Observation Datastore::preview(Place place) const { return get(0, place); }

Observation Datastore::get(int64_t index, Place place) const {
  refuse_while_accelerated("a datastore", place);
  if (index < 0 || index >= size())
    throw Error(ErrorKind::usage, 311, fmt::format("get: there is no observation {}", index))
        .where(place)
        .expected(size() ? fmt::format("0 to {}", size() - 1) : "a store with data: this one is empty");
  return with_place(place, [&] { return checked_get(*source_, index, pass_); });
}

Datastore Datastore::partition(int64_t n, int64_t i, Place place) const {
  require(is_partitionable(), "partition", "cannot be parted", place);
  if (n < 1 || i < 0 || i >= n)
    throw Error(ErrorKind::usage, 312, fmt::format("partition: there is no part {} of {}", i, n))
        .where(place)
        .expected("n of at least 1, and a part from 0 to n-1");
  const Range part = part_of(size(), n, i);
  std::vector<int64_t> indices(static_cast<size_t>(part.count));
  std::iota(indices.begin(), indices.end(), part.first);
  return Datastore(std::make_shared<SubsetSource>(source_, std::move(indices)), place);
}

Datastore Datastore::shuffle(uint64_t seed, Place place) const {
  require(is_shuffleable(), "shuffle", "cannot be shuffled", place);
  return Datastore(std::make_shared<SubsetSource>(source_, random_order(size(), seed, "store shuffle", 0)), place);
}

Datastore Datastore::subset(std::span<const int64_t> indices, Place place) const {
  require(is_subsettable(), "subset", "cannot be read in any order", place);
  for (int64_t index : indices)
    if (index < 0 || index >= size())
      throw Error(ErrorKind::usage, 312, fmt::format("subset: there is no observation {}", index))
          .where(place)
          .expected(fmt::format("indices of 0 to {}", size() - 1));
  return Datastore(std::make_shared<SubsetSource>(source_, std::vector<int64_t>(indices.begin(), indices.end())),
                   place);
}

int64_t Datastore::num_partitions() const { return is_partitionable() ? std::max<int64_t>(size(), 1) : 1; }

}  // namespace retrace
