#include "retrace/base/error.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <utility>

#include "retrace/base/file.h"

namespace retrace {

std::string Place::text() const {
  if (!file || !*file) return "";
  const char* slash = std::strrchr(file, '/');
  return fmt::format("{}:{}", slash ? slash + 1 : file, line);
}

int exit_code(ErrorKind kind) {
  switch (kind) {
    case ErrorKind::usage: return 2;
    case ErrorKind::bad_data: return 65;
    case ErrorKind::missing: return 66;
    case ErrorKind::unavailable: return 69;
    case ErrorKind::internal: return 70;
    case ErrorKind::output: return 74;
    case ErrorKind::lost: return 77;
  }
  return 1;
}

Error::Error(ErrorKind kind, int code, std::string_view message) : kind_(kind), code_(code), message_(message) {
  format();
}
Error::Error(const Error& other) = default;
Error::Error(Error&& other) noexcept = default;
Error& Error::operator=(const Error& other) = default;
Error& Error::operator=(Error&& other) noexcept = default;
Error::~Error() = default;

Error& Error::where(std::string_view text) { return where_ = text, format(), *this; }
Error& Error::where(Place place) { return where(place.text()); }
Error& Error::got(std::string_view text) { return got_ = text, format(), *this; }
Error& Error::expected(std::string_view text) { return expected_ = text, format(), *this; }
Error& Error::help(std::string_view text) { return help_ = text, format(), *this; }

Error& Error::in(const std::string& whose) { return message_ = whose + ": " + message_, format(), *this; }

namespace {
constexpr size_t kLongestLine = 1000;  // longer ones lose their middle

std::string shown_line(std::string_view line) {
  if (line.size() <= kLongestLine) return printable(line);
  return fmt::format("{} ... {}", printable(line.substr(0, kLongestLine / 2)),
                     printable(line.substr(line.size() - kLongestLine / 2)));
}

// A text that is safe to show on a terminal, whatever it was made from.
std::string shown(std::string text) {
  std::replace(text.begin(), text.end(), '\t', ' ');
  std::string out;
  for (size_t begin = 0; begin <= text.size();) {
    const size_t end = std::min(text.find('\n', begin), text.size());
    out += (begin ? "\n" : "") + shown_line(std::string_view(text).substr(begin, end - begin));
    begin = end + 1;
  }
  return out;
}
}  // namespace

void Error::format() {
  text_ = fmt::format("error[RT{:04}]: {}", code_, message_);
  const auto add = [&](const char* name, const std::string& part) {
    if (!part.empty()) text_ += fmt::format("\n  {:<9} {}", name, part);
  };
  add("where:", where_), add("got:", got_), add("expected:", expected_), add("help:", help_);
  text_ = shown(std::move(text_));
}

namespace {
constexpr size_t kMostMistakes = 20;  // of one error
}  // namespace

void throw_all(const std::vector<Error>& errors) {
  if (errors.empty()) return;
  if (errors.size() == 1) throw errors[0];
  const size_t shown = std::min(errors.size(), kMostMistakes);
  std::string rest;
  for (size_t i = 0; i < shown; ++i) rest += (rest.empty() ? "" : "\n") + std::string(errors[i].what());
  if (errors.size() > shown) rest += fmt::format("\n{} more mistakes are not shown", errors.size() - shown);
  // The joined text replaces the first error's own prefix, so that each mistake keeps its code.
  const std::string prefix = fmt::format("error[RT{:04}]: ", errors[0].code());
  throw Error(errors[0].kind(), errors[0].code(), rest.substr(prefix.size()));
}

void ensure(bool condition, const char* what, Place place) {
  if (condition) return;
  throw Error(ErrorKind::internal, 900, fmt::format("{} does not hold", what))
      .where(place)
      .help("this is a defect of retrace: please report it with the job and this text");
}

}  // namespace retrace
