#pragma once
// Where random ops inside a recorded call take their key, ordinal and first sample from. A function made by
// value_and_grad or accelerate opens one for each outermost call; the outermost value_and_grad in it begins each shard
// anew, so that a draw has the same ordinal in every shard. Scopes of one thread nest; the innermost counts.

#include <utility>

#include "retrace/tensor/tensor.h"

namespace retrace {

class DrawScope {
 public:
  // key: of this call, i32[4] as made by RandomKey::tensor(step); an input of the trace, so that replay draws anew.
  explicit DrawScope(Tensor key) : key_(std::move(key)), outer_(innermost()) { innermost() = this; }
  ~DrawScope() { innermost() = outer_; }
  DrawScope(const DrawScope&) = delete;
  DrawScope& operator=(const DrawScope&) = delete;

  // The innermost scope of this thread, or null.
  static DrawScope* current() { return innermost(); }

  // From here on draws count from `ordinal`, and sample 0 of what is drawn is sample `first_sample` of the mini-batch.
  void begin_shard(int64_t first_sample, int64_t ordinal = 0) {
    next_ordinal_ = ordinal;
    first_sample_ = first_sample;
    in_shard_ = true;
  }
  void end_shards() { first_sample_ = 0, in_shard_ = false; }
  // Whether the samples of the mini-batch are being counted already; what is inside does not begin shards.
  bool in_shard() const { return in_shard_; }
  void set_in_shard(bool in_shard) { in_shard_ = in_shard; }

  const Tensor& key() const { return key_; }
  int64_t ordinal() const { return next_ordinal_; }
  // The ordinal of the first of `count` draws, which are thereby taken.
  int64_t take(int64_t count = 1) { return std::exchange(next_ordinal_, next_ordinal_ + count); }
  int64_t first_sample() const { return first_sample_; }

 private:
  static DrawScope*& innermost() {
    thread_local DrawScope* scope = nullptr;
    return scope;
  }
  Tensor key_;
  int64_t next_ordinal_ = 0, first_sample_ = 0;
  bool in_shard_ = false;
  DrawScope* outer_;
};

}  // namespace retrace
