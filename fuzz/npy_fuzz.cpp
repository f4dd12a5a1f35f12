// Any bytes: the NPY reader gives an array that agrees with its header, or Error(bad_data).

#include <cstdint>

#include "retrace/data/npy.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace retrace;
  constexpr uint64_t limit = 1 << 20;
  try {
    const NpyArray array = parse_npy({reinterpret_cast<const char*>(data), size}, "input", limit);
    const auto count = static_cast<size_t>(array.shape.count());
    ensure(array.bytes.size() == count * static_cast<size_t>(array.item), "the array is full");
    ensure(array.bytes.size() <= limit, "the limit holds");
    ensure(array.floats().size() == count, "every value is a number");
    if (!array.is_floating()) ensure(array.integers().size() == count, "every value is a whole number");
  } catch (const Error& error) {
    if (error.kind() != ErrorKind::bad_data) throw;
  }
  return 0;
}
