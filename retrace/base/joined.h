#pragma once
// Lists as text. (fmt::join compiles the formatting of numbers anew in each file that uses it.)

#include <concepts>
#include <cstdint>
#include <string>
#include <string_view>
#include <type_traits>

#include "retrace/base/joined.h"

namespace retrace {
namespace detail {

// Numbers as fmt writes them.
void append_text(std::string& text, std::string_view item);
void append_text(std::string& text, int64_t item);
void append_text(std::string& text, uint64_t item);
void append_text(std::string& text, double item);
void append_text(std::string& text, float item);

}  // namespace detail

// The items of a range, strings or numbers, with `separator` between them: joined(std::vector{1, 2}, ", ") is "1, 2".
template <class Range>
std::string joined(const Range& range, std::string_view separator) {
  std::string text;
  bool first = true;
  for (const auto& item : range) {
    if (!first) text += separator;
    first = false;
    using Item = std::remove_cvref_t<decltype(item)>;
    if constexpr (std::signed_integral<Item>)
      detail::append_text(text, int64_t{item});
    else if constexpr (std::unsigned_integral<Item>)
      detail::append_text(text, uint64_t{item});
    else
      detail::append_text(text, item);
  }
  return text;
}

}  // namespace retrace
