#pragma once
// An op's parameters: an ordered list of names and values. Hash, equality, text and parsing follow from it.

#include <concepts>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "retrace/tensor/dtype.h"
#include "retrace/tensor/shape.h"

namespace retrace {

struct Trace;

// Constructors and destructor are in attributes.cpp: every file that records an op would instantiate them.
class AttributeValue : public std::variant<int64_t, double, Shape, DType, std::string, std::shared_ptr<const Trace>> {
 public:
  AttributeValue();
  template <std::integral T>
    requires(!std::same_as<T, bool>)
  AttributeValue(T value) : AttributeValue(Integer{static_cast<int64_t>(value)}) {}
  AttributeValue(double value);
  AttributeValue(Shape value);
  AttributeValue(DType value);
  AttributeValue(std::string value);
  AttributeValue(const char* value);
  AttributeValue(std::shared_ptr<const Trace> value);
  AttributeValue(const AttributeValue& other);
  AttributeValue(AttributeValue&& other) noexcept;
  AttributeValue& operator=(const AttributeValue& other);
  AttributeValue& operator=(AttributeValue&& other) noexcept;
  ~AttributeValue();

 private:
  struct Integer {
    int64_t value;
  };
  explicit AttributeValue(Integer value);
};

struct Attribute {
  std::string_view name;  // a string with static lifetime: an op's declared name
  AttributeValue value;
  bool operator==(const Attribute& other) const;  // doubles by their bits, traces by what they hold
};

class Attributes {
 public:
  Attributes() = default;
  Attributes(std::initializer_list<Attribute> entries);

  const std::vector<Attribute>& entries() const { return entries_; }
  std::vector<Attribute>& entries() { return entries_; }
  void add(std::string_view name, AttributeValue value);
  // Adds to an integer, if there is one of that name.
  void shift(std::string_view name, int64_t by);

  // Throws Error(internal) if absent or of another kind.
  int64_t integer(std::string_view name) const;
  double number(std::string_view name) const;
  const Shape& list(std::string_view name) const;
  DType type(std::string_view name) const;
  const std::string& text(std::string_view name) const;
  const std::shared_ptr<const Trace>& trace(std::string_view name) const;

  bool operator==(const Attributes& other) const {  // most operations have none: no call for them
    return entries_.size() == other.entries_.size() && (entries_.empty() || same_entries(other));
  }
  uint64_t hash() const;
  // {stride=[1,1], type=f32, name="x", bound=0x1p+0}: integers plain, numbers as hexadecimal floats, a trace in braces;
  // "" if empty.
  std::string print() const;

 private:
  const AttributeValue& find(std::string_view name) const;
  bool same_entries(const Attributes& other) const;
  std::vector<Attribute> entries_;
};

}  // namespace retrace
