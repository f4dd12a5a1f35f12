#include "retrace/base/json.h"

#include <fmt/format.h>

#include <cmath>

#include "retrace/base/file.h"

namespace retrace {

Json::Json(double value) : text_(std::isfinite(value) ? fmt::format("{}", value) : "null") {}

Json::Json(std::string_view value) {
  std::string escaped;
  for (const char c : value) {
    if (c == '"' || c == '\\') {
      escaped += '\\';
      escaped += c;
    } else if (static_cast<unsigned char>(c) < 0x20) {
      escaped += fmt::format("\\u{:04x}", static_cast<unsigned char>(c));
    } else {
      escaped += c;
    }
  }
  text_ = "\"" + printable(escaped) + "\"";
}

Json Json::object(const std::vector<Member>& members) {
  Json json;
  json.text_ = "{";
  for (const auto& [name, value] : members) {
    if (json.text_.size() > 1) json.text_ += ",";
    json.text_ += Json(name).text_ + ":" + value.text_;
  }
  json.text_ += "}";
  return json;
}

Json Json::list(const std::vector<Json>& values) {
  Json json;
  json.text_ = "[";
  for (const Json& value : values) {
    if (json.text_.size() > 1) json.text_ += ",";
    json.text_ += value.text_;
  }
  json.text_ += "]";
  return json;
}

}  // namespace retrace
