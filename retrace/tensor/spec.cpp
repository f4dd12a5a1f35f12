#include "retrace/tensor/spec.h"

#include <fmt/format.h>

namespace retrace {

std::string TensorSpec::text() const {
  std::string text = fmt::format("{}{}", name_of(type), shape.text());
  if (!labels.empty()) text += fmt::format(" \"{}\"", labels.text());
  return text;
}

}  // namespace retrace
