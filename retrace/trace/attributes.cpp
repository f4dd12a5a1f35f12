#include "retrace/trace/attributes.h"

#include <fmt/format.h>

#include <bit>

#include "retrace/base/copy_variant.h"
#include "retrace/base/hash.h"
#include "retrace/trace/text.h"

namespace retrace {
namespace {

uint64_t hash_value(const AttributeValue& value) {
  struct Visitor {
    uint64_t operator()(int64_t x) const { return static_cast<uint64_t>(x); }
    uint64_t operator()(double x) const { return std::bit_cast<uint64_t>(x); }
    uint64_t operator()(const Shape& x) const {
      uint64_t hash = static_cast<uint64_t>(x.rank());
      for (int64_t entry : x) hash = hash_combine(hash, static_cast<uint64_t>(entry));
      return hash;
    }
    uint64_t operator()(DType x) const { return static_cast<uint64_t>(x); }
    uint64_t operator()(const std::string& x) const { return hash_bytes(x); }
    uint64_t operator()(const std::shared_ptr<const Trace>& x) const { return x->hash(); }
  };
  return hash_combine(value.index(), std::visit(Visitor(), value));
}

std::string print_value(const AttributeValue& value) {
  struct Visitor {
    std::string operator()(int64_t x) const { return fmt::format("{}", x); }
    std::string operator()(double x) const { return fmt::format("{:a}", x); }
    std::string operator()(const Shape& x) const { return x.text(); }
    std::string operator()(DType x) const { return std::string(name_of(x)); }
    std::string operator()(const std::string& x) const { return fmt::format("\"{}\"", x); }
    std::string operator()(const std::shared_ptr<const Trace>& x) const { return "{\n" + print_trace(*x) + "}"; }
  };
  return std::visit(Visitor(), value);
}

template <class T>
const T& get(std::string_view name, const AttributeValue& value, const char* kind) {
  if (const T* found = std::get_if<T>(&value)) return *found;
  throw Error(ErrorKind::internal, 901, fmt::format("the attribute \"{}\" is not {}", name, kind));
}

}  // namespace

AttributeValue::AttributeValue() = default;
AttributeValue::AttributeValue(Integer value) : variant(value.value) {}
AttributeValue::AttributeValue(double value) : variant(value) {}
AttributeValue::AttributeValue(Shape value) : variant(std::move(value)) {}
AttributeValue::AttributeValue(DType value) : variant(value) {}
AttributeValue::AttributeValue(std::string value) : variant(std::move(value)) {}
AttributeValue::AttributeValue(const char* value) : variant(std::string(value)) {}
AttributeValue::AttributeValue(std::shared_ptr<const Trace> value) : variant(std::move(value)) {}
AttributeValue::AttributeValue(const AttributeValue& other) : variant(copy_of(other)) {}
AttributeValue::AttributeValue(AttributeValue&&) noexcept = default;
AttributeValue& AttributeValue::operator=(const AttributeValue&) = default;
AttributeValue& AttributeValue::operator=(AttributeValue&&) noexcept = default;
AttributeValue::~AttributeValue() = default;

void Attributes::shift(std::string_view name, int64_t by) {
  for (auto& entry : entries_)
    if (int64_t* value = std::get_if<int64_t>(&entry.value); value && entry.name == name) *value += by;
}

Attributes::Attributes(std::initializer_list<Attribute> entries) : entries_(entries) {}

void Attributes::add(std::string_view name, AttributeValue value) { entries_.push_back({name, std::move(value)}); }

bool Attributes::same_entries(const Attributes& other) const { return entries_ == other.entries_; }

bool Attribute::operator==(const Attribute& other) const {
  if (name != other.name || value.index() != other.value.index()) return false;
  if (const double* a = std::get_if<double>(&value))
    return std::bit_cast<uint64_t>(*a) == std::bit_cast<uint64_t>(std::get<double>(other.value));
  using TracePointer = std::shared_ptr<const Trace>;
  if (const auto* a = std::get_if<TracePointer>(&value)) {
    const auto& b = std::get<TracePointer>(other.value);
    return *a == b || **a == *b;
  }
  return value == other.value;
}

const AttributeValue& Attributes::find(std::string_view name) const {
  for (const auto& entry : entries_)
    if (entry.name == name) return entry.value;
  throw Error(ErrorKind::internal, 901, fmt::format("an op reads its absent attribute \"{}\"", name));
}

int64_t Attributes::integer(std::string_view name) const { return get<int64_t>(name, find(name), "a whole number"); }
double Attributes::number(std::string_view name) const { return get<double>(name, find(name), "a number"); }
const Shape& Attributes::list(std::string_view name) const {
  return get<Shape>(name, find(name), "a list of whole numbers");
}
DType Attributes::type(std::string_view name) const { return get<DType>(name, find(name), "a type"); }
const std::string& Attributes::text(std::string_view name) const {
  return get<std::string>(name, find(name), "a text");
}
const std::shared_ptr<const Trace>& Attributes::trace(std::string_view name) const {
  return get<std::shared_ptr<const Trace>>(name, find(name), "a trace");
}

uint64_t Attributes::hash() const {
  uint64_t hash = entries_.size();
  for (const auto& entry : entries_)
    hash = hash_combine(hash_combine(hash, hash_bytes(entry.name)), hash_value(entry.value));
  return hash;
}

std::string Attributes::print() const {
  std::string text;
  for (const auto& entry : entries_)
    text += fmt::format("{}{}={}", text.empty() ? "" : ", ", entry.name, print_value(entry.value));
  return text.empty() ? "" : "{" + text + "}";
}

}  // namespace retrace
