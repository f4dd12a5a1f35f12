#pragma once
// Numbers in requests.

#include <charconv>
#include <string>

#include "retrace/web/http_message.h"

namespace retrace {

// The number that is all of the text, else `otherwise`.
template <class Number>
Number number_from(const std::string& text, Number otherwise) {
  Number value = otherwise;
  const auto [end, failure] = std::from_chars(text.data(), text.data() + text.size(), value);
  return failure == std::errc() && end == text.data() + text.size() && !text.empty() ? value : otherwise;
}

template <class Number>
Number number_in(const WebRequest& request, const char* name, Number otherwise) {
  return number_from(request.parameter(name), otherwise);
}

}  // namespace retrace
