#pragma once
// Copies of std::variant, whatever fails.

#include <type_traits>
#include <utility>
#include <variant>

namespace retrace {

// A copy of a variant. The copy constructor of libstdc++ 12, where all types are strings, vectors and numbers and an
// allocation fails, destroys a value that was never made.
template <class... Types>
std::variant<Types...> copy_of(const std::variant<Types...>& value) {
  return std::visit(
      [](const auto& held) {
        return std::variant<Types...>(std::in_place_type<std::remove_cvref_t<decltype(held)>>, held);
      },
      value);
}

}  // namespace retrace
