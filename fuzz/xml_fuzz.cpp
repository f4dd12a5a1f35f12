// Any bytes: the reader of object storage's answers gives a tree that is not deep, or nothing.

#include <algorithm>
#include <cstdint>
#include <string_view>

#include "retrace/base/error.h"
#include "retrace/cloud/xml.h"

namespace {

// Elements on the longest way down.
int depth(const retrace::XmlElement& element) {
  int deepest = 0;
  for (const auto& child : element.children) deepest = std::max(deepest, depth(child));
  return deepest + 1;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const auto root = retrace::parse_xml({reinterpret_cast<const char*>(data), size});
  if (root) retrace::ensure(depth(*root) <= 32 && !root->name.empty(), "a tree within its limits");
  return 0;
}
