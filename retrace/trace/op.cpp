#include "retrace/trace/op.h"

#include <algorithm>

namespace retrace {

bool goes_along_samples(const Op& op, const Attributes& attributes) {
  for (const Attribute& attribute : attributes.entries()) {
    if (attribute.name == "axes") {
      const Shape& axes = attributes.list("axes");
      return std::find(axes.begin(), axes.end(), 0) != axes.end();
    }
    if (attribute.name == "axis") return attributes.integer("axis") == 0;
  }
  return op.subtree != nullptr;
}

}  // namespace retrace
