#include "retrace/data/transform.h"

#include <fmt/format.h>

#include <algorithm>

#include "retrace/base/fp_environment.h"
#include "retrace/base/hash.h"
#include "retrace/data/checked_source.h"

namespace retrace {
namespace {

using Sources = std::vector<std::shared_ptr<const DataSource>>;

class TransformSource : public DataSource {
 public:
  TransformSource(std::shared_ptr<const DataSource> inner, TransformFunction function, const TransformOptions& options,
                  Place place)
      : inner_(std::move(inner)), function_(std::move(function)), options_(options), place_(place) {}
  int64_t size() const override { return inner_->size(); }
  int variables() const override { return options_.variables ? options_.variables : inner_->variables(); }
  Observation get(int64_t index, int64_t pass) const override {
    const FloatingPointScope floating_point;
    const int64_t sample = inner_->sample(index);
    TransformContext context{sample, pass,
                             RandomStream(options_.seed, "transform", static_cast<uint64_t>(pass),
                                          static_cast<uint64_t>(inner_->depth()), static_cast<uint64_t>(sample))};
    Observation result = function_(checked_get(*inner_, index, pass), context);
    if (static_cast<int>(result.size()) != variables())
      throw Error(ErrorKind::usage, 315,
                  fmt::format("transform: the function returned {} variables for observation {}", result.size(), index))
          .where(place_)
          .expected(fmt::format("{} variables", variables()))
          .help("state the number in TransformOptions::variables");
    return result;
  }
  uint64_t digest(std::span<const int64_t> indices) const override {
    const uint64_t own = DataSource::digest(indices);
    return own ? hash_combine(own, inner_->digest(indices)) | 1 : 0;
  }
  std::vector<SourceFile> files() const override { return inner_->files(); }
  int64_t sample(int64_t index) const override { return inner_->sample(index); }
  int depth() const override { return inner_->depth() + 1; }
  int levels() const override { return inner_->levels() + 1; }
  bool is_subsettable() const override { return inner_->is_subsettable(); }
  bool is_partitionable() const override { return inner_->is_partitionable(); }
  bool is_shuffleable() const override { return inner_->is_shuffleable(); }

 private:
  std::shared_ptr<const DataSource> inner_;
  TransformFunction function_;
  TransformOptions options_;
  Place place_;
};

// Shared by sources that are made of several sources.
class CombinedSource : public DataSource {
 public:
  explicit CombinedSource(Sources sources) : sources_(std::move(sources)) {}
  std::vector<SourceFile> files() const override {
    std::vector<SourceFile> all;
    for (const auto& source : sources_)
      for (auto& file : source->files()) all.push_back(std::move(file));
    return all;
  }
  int depth() const override {
    int deepest = 0;
    for (const auto& source : sources_) deepest = std::max(deepest, source->depth());
    return deepest;
  }
  int levels() const override {
    int most = 0;
    for (const auto& source : sources_) most = std::max(most, source->levels());
    return most + 1;
  }
  bool is_subsettable() const override { return all(&DataSource::is_subsettable); }
  bool is_partitionable() const override { return all(&DataSource::is_partitionable); }
  bool is_shuffleable() const override { return all(&DataSource::is_shuffleable); }

 protected:
  bool all(bool (DataSource::*can)() const) const {
    return std::all_of(sources_.begin(), sources_.end(), [&](const auto& source) { return (*source.*can)(); });
  }
  Sources sources_;
};

class AssociatedSource : public CombinedSource {
 public:
  using CombinedSource::CombinedSource;
  int64_t size() const override { return sources_[0]->size(); }
  int variables() const override {
    int count = 0;
    for (const auto& source : sources_) count += source->variables();
    return count;
  }
  Observation get(int64_t index, int64_t pass) const override {
    Observation all;
    for (const auto& source : sources_)
      for (auto& tensor : checked_get(*source, index, pass)) all.push_back(std::move(tensor));
    return all;
  }
  std::vector<Tensor> gather(std::span<const int64_t> indices, int64_t pass, int variables) const override {
    std::vector<Tensor> batch;
    for (const auto& source : sources_) {
      const int wanted = std::min(variables - static_cast<int>(batch.size()), source->variables());
      if (wanted <= 0) break;
      for (auto& tensor : checked_gather(*source, indices, pass, wanted)) batch.push_back(std::move(tensor));
    }
    return batch;
  }
  uint64_t digest(std::span<const int64_t> indices) const override {
    uint64_t hash = indices.size();
    for (const auto& source : sources_) hash = hash_combine(hash, source->digest(indices));
    return is_subsettable() ? hash | 1 : 0;
  }
  int64_t sample(int64_t index) const override { return sources_[0]->sample(index); }
  bool is_in_memory() const override { return all(&DataSource::is_in_memory); }
};

class SequentialSource : public CombinedSource {
 public:
  using CombinedSource::CombinedSource;
  int64_t size() const override {
    int64_t sum = 0;
    for (const auto& source : sources_) sum += source->size();
    return sum;
  }
  int variables() const override { return sources_[0]->variables(); }
  Observation get(int64_t index, int64_t pass) const override {
    size_t i = 0;
    while (index >= sources_[i]->size()) index -= sources_[i++]->size();
    return checked_get(*sources_[i], index, pass);
  }
};

}  // namespace

Datastore transform(const Datastore& store, TransformFunction function, const TransformOptions& options, Place place) {
  if (!function || options.variables < 0)
    throw Error(ErrorKind::usage, 315,
                function ? "transform: the number of variables is negative" : "transform: there is no function")
        .where(place);
  return Datastore(std::make_shared<TransformSource>(store.source(), std::move(function), options, place), place);
}

Datastore combine(const std::vector<Datastore>& stores, CombineOrder order, Place place) {
  if (stores.empty()) throw Error(ErrorKind::usage, 316, "combine: no store was given").where(place);
  const bool associated = order == CombineOrder::associated;
  Sources sources;
  for (size_t i = 0; i < stores.size(); ++i) {
    sources.push_back(stores[i].source());
    if (associated && stores[i].size() != stores[0].size())
      throw Error(
          ErrorKind::usage, 316,
          fmt::format("combine: store 0 has {} observations, store {} has {}", stores[0].size(), i, stores[i].size()))
          .where(place)
          .expected("the same number in all stores")
          .help("take a subset() of the longer one");
    if (!associated && stores[i].variables() != stores[0].variables())
      throw Error(ErrorKind::usage, 316,
                  fmt::format("combine: store 0 has {} variables, store {} has {}", stores[0].variables(), i,
                              stores[i].variables()))
          .where(place)
          .expected("the same variables in stores that follow each other");
  }
  if (associated) return Datastore(std::make_shared<AssociatedSource>(std::move(sources)), place);
  return Datastore(std::make_shared<SequentialSource>(std::move(sources)), place);
}

}  // namespace retrace
