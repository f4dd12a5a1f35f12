#pragma once
// A source that must be read in order, read ahead of time.

#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "retrace/data/datastore.h"
#include "retrace/data/prefetcher.h"

namespace retrace {

// The observations of a source that is not subsettable, for one queue and its thread. Whatever is asked for, the source
// is asked for 0, 1, 2, ...: observations in between are read and dropped, and one further back, or of another pass,
// begins at 0 again. With ahead > 0 a thread of its own reads at most that many observations ahead.
class InOrderSource : public DataSource {
 public:
  InOrderSource(std::shared_ptr<const DataSource> source, int ahead);

  int64_t size() const override { return source_->size(); }
  int variables() const override { return source_->variables(); }
  Observation get(int64_t index, int64_t pass) const override;
  int64_t sample(int64_t index) const override { return source_->sample(index); }
  bool is_subsettable() const override { return false; }

 private:
  Observation read() const;

  std::shared_ptr<const DataSource> source_;
  // Where it stands; no part of what it delivers.
  mutable std::optional<Prefetcher> prefetcher_;
  mutable int64_t pass_ = -1, next_ = 0;
};

}  // namespace retrace
