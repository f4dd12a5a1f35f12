// Any bytes: the IDX reader gives an array that agrees with its header, or Error(bad_data).

#include <cstdint>

#include "retrace/data/idx.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace retrace;
  constexpr uint64_t limit = 1 << 20;
  try {
    const IdxArray array = parse_idx({reinterpret_cast<const char*>(data), size}, "input", limit);
    ensure(array.bytes.size() == static_cast<size_t>(array.shape.count()) * size_of(array.type), "the array is full");
    ensure(array.bytes.size() <= limit, "the limit holds");
    ensure(parse_idx(idx_bytes(array), "copy", limit).bytes == array.bytes, "what is written reads back");
  } catch (const Error& error) {
    if (error.kind() != ErrorKind::bad_data) throw;
  }
  return 0;
}
