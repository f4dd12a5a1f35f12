#include "retrace/train/safetensors_header.h"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <nlohmann/json.hpp>
#include <set>
#include <tuple>
#include <utility>

#include "retrace/base/file.h"
#include "retrace/base/joined.h"

namespace retrace::safetensors {
namespace {

using Json = nlohmann::json;

constexpr size_t kMaxRank = 64;
constexpr size_t kMaxName = 4096;
constexpr std::string_view kMetadata = "__metadata__";

// Where the reader stands in {"name": {"dtype": .., "shape": [..], "data_offsets": [..]}, "__metadata__": {..}}.
enum class Level { start, names, tensor, metadata, array, done };

// Receives the parts of the JSON one by one, so that no foreign document is ever built in memory, and stops at
// the first thing that the format does not allow.
class HeaderReader : public nlohmann::json_sax<Json> {
 public:
  explicit HeaderReader(Header& header) : header_(header) {}

  // What is wrong with the text, "" if nothing.
  const std::string& problem() const { return problem_; }

  bool null() override { return unexpected("null"); }
  bool boolean(bool) override { return unexpected("a truth value"); }
  bool number_integer(number_integer_t) override { return unexpected("a negative number"); }
  bool number_float(number_float_t, const string_t&) override {
    return unexpected("a number that is no 64-bit integer");
  }
  bool binary(binary_t&) override { return unexpected("binary data"); }

  bool number_unsigned(number_unsigned_t value) override {
    if (level_ != Level::array) return unexpected("a number");
    if (value > INT64_MAX) return stop("a number is too large");
    if (field_ == "shape") {
      if (entry().shape.size() >= kMaxRank) return stop(fmt::format("more than {} dimensions", kMaxRank));
      entry().shape.push_back(static_cast<int64_t>(value));
      return true;
    }
    if (offsets_ >= 2) return stop("more than two data_offsets");
    (offsets_++ == 0 ? entry().begin : entry().end) = value;
    return true;
  }

  bool string(string_t& value) override {
    if (level_ == Level::metadata) {
      header_.metadata[field_] = value;
      return true;
    }
    if (level_ != Level::tensor || field_ != "dtype") return unexpected("a text");
    entry().type = value;
    return true;
  }

  bool start_object(std::size_t) override {
    if (level_ == Level::start) return level_ = Level::names, true;
    if (level_ != Level::names) return unexpected("an object");
    fields_.clear();
    offsets_ = 0;
    if (field_ == kMetadata) return level_ = Level::metadata, true;
    header_.entries.push_back({field_, "", {}, 0, 0});
    return level_ = Level::tensor, true;
  }

  bool end_object() override {
    if (level_ == Level::tensor)
      for (const char* field : {"dtype", "shape", "data_offsets"})
        if (!fields_.count(field)) return stop(fmt::format("{} is missing", field));
    level_ = level_ == Level::names ? Level::done : Level::names;
    tensor_.clear();
    return true;
  }

  bool start_array(std::size_t) override {
    if (level_ != Level::tensor || field_ == "dtype") return unexpected("a list");
    return level_ = Level::array, true;
  }

  bool end_array() override {
    level_ = Level::tensor;
    if (field_ == "data_offsets" && offsets_ != 2) return stop("data_offsets needs two numbers");
    return true;
  }

  bool key(string_t& name) override {
    field_ = name;
    if (level_ == Level::names) {
      tensor_ = name;
      if (!names_.insert(name).second) return stop("the name appears twice");
      if (name == kMetadata) return true;
      const auto why = bad_name(name);
      return why.empty() || stop(why);
    }
    if (!fields_.insert(name).second) return stop(fmt::format("\"{}\" appears twice", printable(name)));
    if (level_ == Level::tensor && name != "dtype" && name != "shape" && name != "data_offsets")
      return stop(fmt::format("unknown field \"{}\"", printable(name)));
    return true;
  }

  bool parse_error(std::size_t position, const std::string&, const Json::exception&) override {
    return stop(fmt::format("its header is no valid JSON at byte {}", position));
  }

 private:
  Entry& entry() { return header_.entries.back(); }
  bool stop(const std::string& what) {
    if (problem_.empty())
      problem_ = tensor_.empty() ? what : fmt::format("tensor \"{}\": {}", printable(tensor_.substr(0, 200)), what);
    return false;
  }
  bool unexpected(const char* what) { return stop(fmt::format("{} stands where it is not allowed", what)); }

  Header& header_;
  Level level_ = Level::start;
  std::string tensor_, field_, problem_;
  std::set<std::string> names_, fields_;
  int offsets_ = 0;
};

Error damaged(std::string_view file, const std::string& what) {
  return Error(ErrorKind::bad_data, 511, fmt::format("safetensors file \"{}\" is damaged: {}", printable(file), what))
      .help("take it from a copy, or write it again");
}

Error damaged(std::string_view file, const Entry& entry, const std::string& what) {
  return damaged(file, fmt::format("tensor \"{}\": {}", printable(entry.name), what))
      .got(fmt::format("{}[{}], data_offsets [{},{}]", printable(entry.type), joined(entry.shape, ","), entry.begin,
                       entry.end));
}

void check_entry(const Entry& entry, uint64_t data_size, std::string_view file) {
  uint64_t bytes = static_cast<uint64_t>(type_size(entry.type));
  if (bytes == 0)
    throw damaged(file, entry, "unknown type").expected("F32, F64, F16, BF16, I8 to I64, U8 to U64 or BOOL");
  bool empty = false;
  for (const int64_t size : entry.shape) empty |= size == 0;
  for (const int64_t size : entry.shape)
    if (!empty && __builtin_mul_overflow(bytes, static_cast<uint64_t>(size), &bytes))
      throw damaged(file, entry, "its size overflows");
  if (empty) bytes = 0;
  if (entry.begin > entry.end) throw damaged(file, entry, "it ends before it begins");
  if (entry.end > data_size)
    throw damaged(file, entry, fmt::format("it ends after the data, which has {} bytes", data_size));
  if (entry.end - entry.begin != bytes)
    throw damaged(file, entry, "its offsets do not match its shape").expected(fmt::format("{} bytes", bytes));
}

void check_layout(Header& header, uint64_t data_size, std::string_view file) {
  std::sort(header.entries.begin(), header.entries.end(), [](const Entry& a, const Entry& b) {
    return std::tie(a.begin, a.end, a.name) < std::tie(b.begin, b.end, b.name);
  });
  uint64_t end = 0;
  for (const auto& entry : header.entries) {
    if (entry.begin < end) throw damaged(file, entry, fmt::format("it overlaps the tensor that ends at {}", end));
    if (entry.begin > end) throw damaged(file, entry, fmt::format("a hole of {} bytes before it", entry.begin - end));
    end = entry.end;
  }
  if (end != data_size) throw damaged(file, fmt::format("{} bytes follow the last tensor", data_size - end));
}

std::string json_text(std::string_view text) {
  try {
    return Json(text).dump();
  } catch (const Json::exception&) {
    throw Error(ErrorKind::usage, 512, fmt::format("\"{}\" cannot be written: it is no valid UTF-8", printable(text)));
  }
}

}  // namespace

int type_size(std::string_view type) {
  struct Known {
    std::string_view name;
    int size;
  };
  static constexpr Known known[] = {{"BOOL", 1}, {"U8", 1},  {"I8", 1},  {"F8_E5M2", 1}, {"F8_E4M3", 1}, {"F8_E8M0", 1},
                                    {"I16", 2},  {"U16", 2}, {"F16", 2}, {"BF16", 2},    {"I32", 4},     {"U32", 4},
                                    {"F32", 4},  {"I64", 8}, {"U64", 8}, {"F64", 8},     {"C64", 8}};
  for (const auto& one : known)
    if (one.name == type) return one.size;
  return 0;
}

std::string bad_name(std::string_view name) {
  if (name.empty()) return "the name is empty";
  if (name == kMetadata) return "the name is reserved";
  if (name.size() > kMaxName) return fmt::format("the name is longer than {} bytes", kMaxName);
  for (const char c : name)
    if (static_cast<unsigned char>(c) < 0x20 || c == 0x7f) return "the name has a control character";
  for (size_t begin = 0; begin <= name.size();) {
    const size_t end = std::min(name.find('/', begin), name.size());
    if (name.substr(begin, end - begin) == "..") return "the name has a part \"..\"";
    begin = end + 1;
  }
  return "";
}

Header parse_header(std::string_view text, uint64_t data_size, std::string_view file) {
  if (text.empty() || text[0] != '{') throw damaged(file, "its header does not begin with {");
  Header header;
  HeaderReader reader(header);
  if (!Json::sax_parse(text, &reader)) throw damaged(file, reader.problem());
  for (const auto& entry : header.entries) check_entry(entry, data_size, file);
  check_layout(header, data_size, file);
  return header;
}

std::string header_text(const Header& header) {
  fmt::memory_buffer text;
  const auto out = std::back_inserter(text);
  const char* comma = "";
  text.push_back('{');
  if (!header.metadata.empty()) {
    fmt::format_to(out, "\"{}\":{{", kMetadata);
    for (const auto& [key, value] : header.metadata)
      fmt::format_to(out, "{}{}:{}", std::exchange(comma, ","), json_text(key), json_text(value));
    text.push_back('}');
    comma = ",";
  }
  for (const auto& entry : header.entries)
    fmt::format_to(out, "{}{}:{{\"dtype\":\"{}\",\"shape\":[{}],\"data_offsets\":[{},{}]}}", std::exchange(comma, ","),
                   json_text(entry.name), entry.type, joined(entry.shape, ","), entry.begin, entry.end);
  text.push_back('}');
  while (text.size() % 8 != 0) text.push_back(' ');
  if (text.size() > kMaxHeader)
    throw Error(ErrorKind::usage, 512, fmt::format("the header of a safetensors file may have {} bytes", kMaxHeader))
        .got(fmt::format("{} bytes", text.size()));
  return {text.data(), text.size()};
}

}  // namespace retrace::safetensors
