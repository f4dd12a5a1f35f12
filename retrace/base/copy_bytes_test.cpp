#include "retrace/base/copy_bytes.h"

#include <gtest/gtest.h>

#include <vector>

namespace retrace {
namespace {

// All distances within a page that are near, and sizes around those at which the copy goes another way.
TEST(CopyBytes, CopiesEachByteAndNoOther) {
  std::vector<uint8_t> from(3 * 4096);
  for (size_t i = 0; i < from.size(); ++i) from[i] = static_cast<uint8_t>(i * 37 % 251);
  for (const size_t size : {0, 1, 2047, 2048, 2049, 2176, 4096, 5001})
    for (size_t distance = 0; distance < 36; ++distance) {
      std::vector<uint8_t> to(4 * 4096, 99);
      // The target is that far behind the source, as seen within pages.
      const auto source = reinterpret_cast<uintptr_t>(from.data()), target = reinterpret_cast<uintptr_t>(to.data());
      const size_t at = (source + distance - target) % 4096 + 1;
      copy_bytes(to.data() + at, from.data() + 1, size);
      for (size_t i = 0; i < to.size(); ++i)
        ASSERT_EQ(to[i], i >= at && i < at + size ? from[i - at + 1] : 99) << size << " bytes, " << distance;
    }
}

}  // namespace
}  // namespace retrace
