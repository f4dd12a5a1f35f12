#pragma once
// Where everything lies in the memory of an exchange, which is of one form on the host and on a device.

#include <algorithm>
#include <vector>

#include "retrace/base/function_ref.h"
#include "retrace/distributed/group.h"
#include "retrace/ops/all_reduce/exchange.h"

namespace retrace {

// A worker's message of the second round is its slice of the sums with what it gives to gather behind it. Offsets are
// bytes from the start of the memory.
struct ExchangeLayout {
  const ExchangeShape& shape;
  std::vector<std::vector<Range>> runs;  // of each worker
  size_t run_count = 0, total = 0, gather_bytes = 0;
  size_t give, take, result, all, bytes;

  explicit ExchangeLayout(const ExchangeShape& shape);
  const std::vector<Range>& own() const { return runs[static_cast<size_t>(shape.split.worker)]; }
  // The elements that a worker adds.
  Range slice(int64_t w) const;
  size_t slice_bytes(int64_t w) const { return static_cast<size_t>(slice(w).count) * shape.element; }
  size_t message(int64_t w) const { return slice_bytes(w) + runs[static_cast<size_t>(w)].size() * gather_bytes; }

  // Calls copy(to, from, bytes) for all that this worker gives, and for all that an exchange results in.
  using Copy = FunctionRef<void(void* to, const void* from, size_t bytes)>;
  void pack(const void* const* partials, char* memory, Copy copy) const;
  void unpack(const char* memory, void* const* outputs, Copy copy) const;

  // The messages of both rounds: partial sums to the owners of slices, then sums to everyone.
  struct Messages {
    std::vector<Sent> sent;
    std::vector<Received> received;
  };
  Messages first_round(char* memory) const;
  Messages second_round(char* memory) const;
};

}  // namespace retrace
