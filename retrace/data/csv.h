#pragma once
// CSV, records of cells, by RFC 4180: cells are separated by commas, or by another character, and lines end with LF or
// CRLF; a cell in quotes may hold that character, line breaks, and quotes that are written twice.

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "retrace/base/error.h"

namespace retrace {

// Where something stands in a text; both count from 1, columns in bytes.
struct TextPosition {
  int64_t line = 1, column = 1;
};

struct CsvCell {
  std::string text;     // without its quotes; blanks around a cell without quotes are not part of it
  bool quoted = false;  // whether it stood in quotes
  TextPosition position;
};

// What separates cells, as people say it: "a comma", "a semicolon", "a bar", "a tab".
std::string delimiter_text(char delimiter);

// Reads the records of a text one after another. A mark of the byte order at its beginning and empty lines at its end
// are no part of it.
class CsvReader {
 public:
  // text: lives as long as the reader; name: of the file, in messages.
  CsvReader(std::string_view text, std::string_view name, char delimiter = ',');
  // The next record, of one cell or more; false at the end. Error(bad_data) for quotes and line breaks that are wrong,
  // and for an empty line within the text.
  bool next();
  // The cells of the record, until the next call.
  const std::vector<CsvCell>& cells() const { return cells_; }
  // "x.csv:3:7"
  std::string place(TextPosition position) const;

 private:
  char peek() const { return at_ < text_.size() ? text_[at_] : '\0'; }
  bool at_end() const { return at_ == text_.size(); }
  TextPosition position() const { return {line_, static_cast<int64_t>(at_ - line_start_) + 1}; }
  bool take_line_end();
  void read_cell();
  void read_plain(CsvCell& cell);
  void read_quoted(CsvCell& cell);
  [[noreturn]] void refuse(const std::string& what, TextPosition position, const std::string& help) const;

  std::string_view text_;
  std::string name_;
  char delimiter_;
  size_t at_ = 0, line_start_ = 0;
  int64_t line_ = 1;
  std::vector<CsvCell> cells_;
};

}  // namespace retrace
