#include "retrace/base/json_value.h"

#include <algorithm>
#include <nlohmann/json.hpp>

#include "retrace/base/json.h"

namespace retrace {
namespace {

constexpr size_t kDeepest = 100;

// Builds values from what the library's parser meets; any event that it refuses ends the parse.
class Builder : public nlohmann::json_sax<nlohmann::json> {
 public:
  JsonValue root;

  bool null() override { return add(JsonValue()); }
  bool boolean(bool value) override { return add(JsonValue(value)); }
  bool number_integer(number_integer_t value) override { return add(JsonValue(int64_t{value})); }
  bool number_unsigned(number_unsigned_t value) override {
    return add(std::in_range<int64_t>(value) ? JsonValue(static_cast<int64_t>(value))
                                             : JsonValue(static_cast<double>(value)));
  }
  bool number_float(number_float_t value, const string_t&) override { return add(JsonValue(value)); }
  bool string(string_t& value) override { return add(JsonValue(std::move(value))); }
  bool binary(binary_t&) override { return false; }
  bool start_object(size_t) override { return open(true); }
  bool key(string_t& name) override { return open_.back().name = std::move(name), true; }
  bool end_object() override { return close(); }
  bool start_array(size_t) override { return open(false); }
  bool end_array() override { return close(); }
  bool parse_error(size_t, const std::string&, const nlohmann::detail::exception&) override { return false; }

 private:
  struct Level {
    bool object;
    JsonValue::List list;
    JsonValue::Members members;
    std::string name;
  };

  bool open(bool object) {
    if (open_.size() == kDeepest) return false;
    open_.push_back({.object = object, .list = {}, .members = {}, .name = {}});
    return true;
  }

  bool close() {
    Level level = std::move(open_.back());
    open_.pop_back();
    return add(level.object ? JsonValue(std::move(level.members)) : JsonValue(std::move(level.list)));
  }

  bool add(JsonValue value) {
    if (open_.empty()) {
      root = std::move(value);
    } else if (Level& level = open_.back(); level.object) {
      level.members.emplace_back(std::move(level.name), std::move(value));
    } else {
      level.list.push_back(std::move(value));
    }
    return true;
  }

  std::vector<Level> open_;
};

}  // namespace

std::optional<JsonValue> JsonValue::parse(std::string_view text) {
  Builder builder;
  if (!nlohmann::json::sax_parse(text.begin(), text.end(), &builder)) return std::nullopt;
  return std::move(builder.root);
}

std::optional<double> JsonValue::number() const {
  if (const auto* value = std::get_if<double>(&value_)) return *value;
  if (const auto* value = std::get_if<int64_t>(&value_)) return static_cast<double>(*value);
  return std::nullopt;
}

std::optional<int64_t> JsonValue::integer() const {
  const auto* value = std::get_if<int64_t>(&value_);
  return value ? std::optional(*value) : std::nullopt;
}

std::optional<bool> JsonValue::boolean() const {
  const auto* value = std::get_if<bool>(&value_);
  return value ? std::optional(*value) : std::nullopt;
}

const JsonValue* JsonValue::find(std::string_view name) const {
  const auto* object = members();
  if (!object) return nullptr;
  const auto found = std::find_if(object->rbegin(), object->rend(), [&](const auto& m) { return m.first == name; });
  return found == object->rend() ? nullptr : &found->second;
}

bool JsonValue::boolean_or(std::string_view name, bool otherwise) const {
  const auto* found = find(name);
  return found ? found->boolean().value_or(otherwise) : otherwise;
}

int64_t JsonValue::integer_or(std::string_view name, int64_t otherwise) const {
  const auto* found = find(name);
  return found ? found->integer().value_or(otherwise) : otherwise;
}

double JsonValue::number_or(std::string_view name, double otherwise) const {
  const auto* found = find(name);
  return found ? found->number().value_or(otherwise) : otherwise;
}

std::string JsonValue::string_or(std::string_view name, std::string_view otherwise) const {
  const auto* found = find(name);
  return std::string(found && found->string() ? *found->string() : otherwise);
}

std::string JsonValue::text() const {
  if (const auto* value = string()) return Json(*value).text();
  if (const auto value = integer()) return Json(*value).text();
  if (const auto value = number()) return Json(*value).text();
  if (const auto value = boolean()) return Json(*value).text();
  if (is_null()) return Json().text();
  std::string all, comma;
  if (const auto* values = list()) {
    for (const auto& value : *values) all += std::exchange(comma, ",") + value.text();
    return "[" + all + "]";
  }
  for (const auto& [name, value] : *members())
    all += std::exchange(comma, ",") + Json(name).text() + ":" + value.text();
  return "{" + all + "}";
}

bool JsonValue::operator==(const JsonValue& other) const {
  if (number() && other.number())
    return integer() && other.integer() ? integer() == other.integer() : number() == other.number();
  if (!is_object() || !other.is_object()) return value_ == other.value_;
  const auto has_all = [](const JsonValue& a, const JsonValue& b) {
    return std::all_of(a.members()->begin(), a.members()->end(), [&](const auto& member) {
      const auto *own = a.find(member.first), *its = b.find(member.first);
      return its && *own == *its;
    });
  };
  return has_all(*this, other) && has_all(other, *this);
}

}  // namespace retrace
