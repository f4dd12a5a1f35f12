#include "retrace/data/csv.h"

#include <fmt/format.h>

#include "retrace/base/file.h"

namespace retrace {
namespace {

constexpr std::string_view kMark = "\xef\xbb\xbf";  // of the byte order

bool is_blank(char c) { return c == ' ' || c == '\t'; }

}  // namespace

std::string delimiter_text(char delimiter) {
  return delimiter == ';' ? "a semicolon" : delimiter == '|' ? "a bar" : delimiter == '\t' ? "a tab" : "a comma";
}

CsvReader::CsvReader(std::string_view text, std::string_view name, char delimiter)
    : text_(text.substr(text.substr(0, 3) == kMark ? 3 : 0)), name_(printable(name)), delimiter_(delimiter) {}

std::string CsvReader::place(TextPosition position) const {
  return fmt::format("{}:{}:{}", name_, position.line, position.column);
}

void CsvReader::refuse(const std::string& what, TextPosition position, const std::string& help) const {
  throw Error(ErrorKind::bad_data, 349, "the CSV file " + what).where(place(position)).help(help);
}

bool CsvReader::take_line_end() {
  if (peek() == '\r') {
    if (at_ + 1 < text_.size() && text_[at_ + 1] != '\n')
      refuse("has a carriage return without a line feed", position(), "end lines with LF or CRLF");
    ++at_;
  }
  if (at_end()) return true;
  if (text_[at_] != '\n') return false;
  ++at_, ++line_, line_start_ = at_;
  return true;
}

bool CsvReader::next() {
  const TextPosition start = position();
  cells_.clear();
  while (!at_end() && (peek() == '\n' || peek() == '\r')) take_line_end();
  if (at_end()) return false;
  if (line_ > start.line) refuse("has an empty line", start, "remove it");
  do {
    read_cell();
    if (at_end() || take_line_end()) return true;
    ++at_;  // the delimiter
  } while (true);
}

void CsvReader::read_cell() {
  CsvCell& cell = cells_.emplace_back();
  cell.position = position();
  if (peek() == '"')
    read_quoted(cell);
  else
    read_plain(cell);
}

void CsvReader::read_plain(CsvCell& cell) {
  const size_t begin = at_;
  while (!at_end() && text_[at_] != delimiter_ && text_[at_] != '\n' && text_[at_] != '\r') {
    if (text_[at_] == '"')
      refuse("has a quote within a cell without quotes", position(),
             "begin and end the cell with quotes, and write a quote in it twice");
    ++at_;
  }
  std::string_view text = text_.substr(begin, at_ - begin);
  while (!text.empty() && is_blank(text.front())) text.remove_prefix(1);
  while (!text.empty() && is_blank(text.back())) text.remove_suffix(1);
  cell.text = text;
}

void CsvReader::read_quoted(CsvCell& cell) {
  cell.quoted = true;
  bool closed = false;
  for (++at_; !at_end() && !closed; ++at_) {
    const char c = text_[at_];
    if (c == '"' && (at_ + 1 == text_.size() || text_[at_ + 1] != '"')) {
      closed = true;
      continue;
    }
    if (c == '"') ++at_;  // the second of two
    if (c == '\n') ++line_, line_start_ = at_ + 1;
    cell.text += c;
  }
  if (!closed) refuse("has a quoted cell without an end", cell.position, "end it with a quote");
  if (!at_end() && text_[at_] != delimiter_ && text_[at_] != '\n' && text_[at_] != '\r')
    refuse("has text behind the quotes of a cell", position(),
           fmt::format("put {} between cells, and write a quote in one twice", delimiter_text(delimiter_)));
}

}  // namespace retrace
