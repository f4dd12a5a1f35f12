#pragma once
// One exchange of tensors between workers: partial sums go to the owner of a slice, who adds them along the tree; then
// everyone gets all sums, and all that is only gathered.

#include <span>

#include "retrace/ops/all_reduce/shard_split.h"
#include "retrace/ops/op.h"

namespace retrace {

// The tensors of an exchange. Those to add come first; all of them have one type.
struct ExchangeShape {
  ShardSplit split;
  size_t element = 4;            // bytes of an element of the sums
  std::vector<int64_t> sums;     // elements of each tensor to add
  std::vector<size_t> gathered;  // bytes of one partial of each tensor to gather

  ExchangeShape(const ShardSplit& split, std::span<const TensorSpec* const> tensors, size_t sums);
};

// Bytes of memory that an exchange needs.
int64_t exchange_bytes(const ExchangeShape& shape);

// Copies what this worker gives into `memory`, which must stay until finish_exchange, and begins. partials: of each
// tensor, this worker's runs. Returns at once. Error(usage) outside of a pool.
void start_exchange(const ExchangeShape& shape, const void* const* partials, void* memory);
// Waits, and copies the results to `outputs`, one for each tensor.
void finish_exchange(void* memory, void* const* outputs);
// Ends all exchanges of this thread that were started and not finished: nothing touches their memory any more. Whoever
// waits for this worker gets the reason.
void abandon_exchanges(const char* why) noexcept;

}  // namespace retrace
