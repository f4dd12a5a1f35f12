#include <fmt/format.h>

#include "retrace/base/hash.h"
#include "retrace/base/joined.h"
#include "retrace/data/mini_batch_queue.h"

namespace retrace {

// Everything that decides what the workers get together, but not where it is delivered.
NamedValues MiniBatchQueue::identity(int64_t shards) const {
  NamedValues values{{"shards", fmt::format("{}", shards)},
                     {"mini_batch_size", fmt::format("{}", options_.mini_batch_size)},
                     {"partial_mini_batch", options_.partial_mini_batch == Partial::keep ? "keep" : "discard"},
                     {"buckets", fmt::format("[{}]", joined(options_.buckets, ", "))},
                     {"seed", fmt::format("{}", options_.seed)},
                     {"outputs", fmt::format("{}", outputs_)},
                     {"mini_batch_function", options_.mini_batch_function ? "given" : "none"},
                     {"position", fmt::format("shuffles {}, passes {}, next {}", position_.shuffles, position_.passes,
                                              position_.next)}};
  for (size_t i = 0; i < static_cast<size_t>(outputs_); ++i) {
    values.emplace_back(fmt::format("formats[{}]", i),
                        options_.formats.empty() ? "\"\"" : '"' + options_.formats[i] + '"');
    const auto cast = options_.casts.empty() ? std::nullopt : options_.casts[i];
    values.emplace_back(fmt::format("casts[{}]", i), cast ? std::string(name_of(*cast)) : "none");
    values.emplace_back(fmt::format("labelled[{}]", i),
                        options_.labelled.empty() || options_.labelled[i] ? "true" : "false");
  }
  uint64_t members = members_.size();
  for (int64_t member : members_) members = hash_combine(members, static_cast<uint64_t>(member));
  values.emplace_back("observations", fmt::format("{}, digest {:016x}", size(), members));
  for (auto& entry : store_.identity("data")) values.push_back(std::move(entry));
  return values;
}

}  // namespace retrace
