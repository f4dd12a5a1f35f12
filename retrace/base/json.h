#pragma once
// JSON for programs that read what this one says.

#include <concepts>
#include <initializer_list>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace retrace {

// A value as JSON on one line. Numbers are the shortest text that reads back to the same bits; null stands for those
// that are not finite. Broken UTF-8 becomes '?'.
class Json {
 public:
  using Member = std::pair<std::string_view, Json>;

  Json() : text_("null") {}
  Json(bool value) : text_(value ? "true" : "false") {}
  template <std::integral Integer>
    requires(!std::same_as<Integer, bool>)
  Json(Integer value) : text_(std::to_string(value)) {}
  Json(double value);
  Json(std::string_view value);
  Json(const std::string& value) : Json(std::string_view(value)) {}
  Json(const char* value) : Json(std::string_view(value)) {}
  template <class Value>
  Json(const std::optional<Value>& value) : Json(value ? Json(*value) : Json()) {}

  // {"name":value,...}, in the order given.
  static Json object(std::initializer_list<Member> members) { return object(std::vector<Member>(members)); }
  static Json object(const std::vector<Member>& members);
  // [value,...]
  static Json list(const std::vector<Json>& values);
  template <class Items, class Function>
  static Json list(const Items& items, const Function& json_of) {
    std::vector<Json> values;
    for (const auto& item : items) values.push_back(json_of(item));
    return list(values);
  }

  const std::string& text() const { return text_; }

 private:
  std::string text_;
};

}  // namespace retrace
