#pragma once
// JSON of other programs, and of earlier runs, as values. json.h writes it.

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include "retrace/base/copy_variant.h"

namespace retrace {

// A JSON text that was read. Members of an object are in the order of the text; of two with one name, the last counts.
class JsonValue {
 public:
  using List = std::vector<JsonValue>;
  using Members = std::vector<std::pair<std::string, JsonValue>>;

  // Nothing for a text that is no JSON, that has something behind it, or whose lists and objects nest deeper than 100.
  static std::optional<JsonValue> parse(std::string_view text);

  JsonValue() = default;  // null
  JsonValue(const JsonValue& other) : value_(copy_of(other.value_)) {}
  JsonValue(JsonValue&&) noexcept = default;
  JsonValue& operator=(const JsonValue&) = default;
  JsonValue& operator=(JsonValue&&) noexcept = default;
  explicit JsonValue(bool value) : value_(value) {}
  explicit JsonValue(int64_t value) : value_(value) {}
  explicit JsonValue(double value) : value_(value) {}
  explicit JsonValue(std::string value) : value_(std::move(value)) {}
  explicit JsonValue(List value) : value_(std::move(value)) {}
  explicit JsonValue(Members value) : value_(std::move(value)) {}

  bool is_null() const { return std::holds_alternative<std::monostate>(value_); }
  bool is_object() const { return members(); }
  // Null, a truth value, a number or a string.
  bool is_primitive() const { return !members() && !list(); }
  // Nothing, or a null pointer, for a value of another kind.
  std::optional<double> number() const;    // whole numbers, too
  std::optional<int64_t> integer() const;  // written without point and exponent, and within 64 bits
  std::optional<bool> boolean() const;
  const std::string* string() const { return std::get_if<std::string>(&value_); }
  const List* list() const { return std::get_if<List>(&value_); }
  const Members* members() const { return std::get_if<Members>(&value_); }
  // The member of an object; a null pointer where it has none of that name, and for a value that is no object.
  const JsonValue* find(std::string_view name) const;
  // What a member is; `otherwise` where there is none of that name and kind.
  bool boolean_or(std::string_view name, bool otherwise) const;
  int64_t integer_or(std::string_view name, int64_t otherwise) const;
  double number_or(std::string_view name, double otherwise) const;
  std::string string_or(std::string_view name, std::string_view otherwise) const;

  // On one line, written as Json writes it.
  std::string text() const;
  // Numbers are equal by value: 1 is 1.0. Objects are equal whatever the order of their members.
  bool operator==(const JsonValue& other) const;

 private:
  std::variant<std::monostate, bool, int64_t, double, std::string, List, Members> value_;
};

}  // namespace retrace
