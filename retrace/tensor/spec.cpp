#include "retrace/tensor/spec.h"

#include <fmt/format.h>

namespace retrace {

std::string TensorSpec::text() const {
  std::string text = fmt::format("{}{}", name_of(type), shape.text());
  if (!labels.empty()) text += fmt::format(" \"{}\"", labels.text());
  if (device > 0) text += fmt::format(" on cuda:{}", device - 1);
  return text;
}

}  // namespace retrace
