#include "retrace/cloud/s3_location.h"

#include <fmt/format.h>

#include <algorithm>

#include "retrace/base/file.h"

namespace retrace {
namespace {

constexpr std::string_view kScheme = "s3://";

bool is_letter_or_digit(char c) { return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9'); }

bool can_be_bucket(std::string_view name) {
  return name.size() >= 3 && name.size() <= 63 && is_letter_or_digit(name.front()) && is_letter_or_digit(name.back()) &&
         std::all_of(name.begin(), name.end(), [](char c) { return is_letter_or_digit(c) || c == '-' || c == '.'; });
}

// The value of a hexadecimal digit; -1 for another character.
int digit(char c) {
  if (c >= '0' && c <= '9') return c - '0';
  if (c >= 'a' && c <= 'f') return c - 'a' + 10;
  if (c >= 'A' && c <= 'F') return c - 'A' + 10;
  return -1;
}

}  // namespace

std::string S3Location::text() const { return fmt::format("{}{}{}{}", kScheme, bucket, key.empty() ? "" : "/", key); }

bool is_s3(std::string_view location) { return location.starts_with(kScheme); }

S3Location parse_s3(std::string_view location) {
  const std::string_view rest = is_s3(location) ? location.substr(kScheme.size()) : "";
  const size_t slash = std::min(rest.find('/'), rest.size());
  std::string_view key = rest.substr(slash);
  while (key.starts_with('/')) key.remove_prefix(1);
  if (can_be_bucket(rest.substr(0, slash))) return {std::string(rest.substr(0, slash)), std::string(key)};
  throw Error(ErrorKind::usage, 680, fmt::format("\"{}\" names no bucket", printable(location)))
      .expected("s3://BUCKET/KEY, a bucket of 3 to 63 small letters, digits, '-' and '.'");
}

std::string url_encoded(std::string_view text, bool slash) {
  std::string encoded;
  for (const char c : text) {
    const bool plain = is_letter_or_digit(c) || (c >= 'A' && c <= 'Z') || c == '-' || c == '.' || c == '_' || c == '~';
    if (plain || (c == '/' && !slash))
      encoded += c;
    else
      encoded += fmt::format("%{:02X}", static_cast<unsigned char>(c));
  }
  return encoded;
}

std::string url_decoded(std::string_view text) {
  std::string decoded;
  for (size_t i = 0; i < text.size(); ++i) {
    const bool number = text[i] == '%' && i + 2 < text.size() && digit(text[i + 1]) >= 0 && digit(text[i + 2]) >= 0;
    if (number)
      decoded += static_cast<char>(digit(text[i + 1]) * 16 + digit(text[i + 2])), i += 2;
    else
      decoded += text[i] == '+' ? ' ' : text[i];
  }
  return decoded;
}

}  // namespace retrace
