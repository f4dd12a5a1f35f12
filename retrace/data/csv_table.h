#pragma once
// A CSV file as numbers and labels: what stores and predictions are made of.

#include <cstdint>
#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include "retrace/data/csv.h"
#include "retrace/data/csv_date.h"
#include "retrace/data/csv_store.h"
#include "retrace/data/test_parts.h"

namespace retrace {

// Which columns mean what. Columns have the names of the first line; without a header, the names 1, 2, 3, ...
struct CsvColumns {
  bool header = true;
  char delimiter = ',';
  char decimal = '.';                     // between a number and its decimals: a point or a comma
  std::vector<std::string> missing = {};  // words that stand for an empty cell
  std::vector<std::string> targets = {};  // none named: the last column
  std::vector<std::string> ignored = {};
  // The columns that are features, in this order, and targets in theirs; all others are not used. None: all that are
  // neither targets nor ignored, in the order of the file, and targets in that order, too.
  std::vector<std::string> named = {};
  std::vector<std::string> categorical = {};  // of the features: texts, which become a number for each category
  std::vector<std::string> dates = {};        // of the features: dates, which become numbers of days
  CsvDateOptions date_options = {};
  EmptyCells empty = EmptyCells::refused;  // of features; of targets they are refused or dropped
  // Of each feature: its categories (none: it is a number), and what its empty cells are. None: those that are found.
  std::vector<std::vector<std::string>> categories = {};
  std::vector<float> means = {};
  bool unknown_is_zeros = false;  // a text that is none of the categories has zeros for all of them; else it is refused
  // Above 0: this share of the records is put aside for tests, and categories and means are those of the others.
  double test_share = 0;
  uint64_t seed = 0;        // of that draw
  bool cleans = false;      // who reads has `categorical`, `empty` and `missing` as options: messages name them
  bool labels = false;      // the target is one column of labels, as text; else targets are numbers
  int64_t features = 0;     // the width that there must be; 0: any
  bool for_inputs = false;  // only features are read: columns that are named and not there are no mistake, and the last
                            // column is a feature where that makes the number right
  bool named_are_targets = false;  // in messages
};

struct CsvLabel {
  std::string text;
  TextPosition position;
};

struct CsvTable {
  std::string name;                                  // of the file, in messages
  std::vector<std::string> columns;                  // the names of the features
  std::vector<std::string> targets;                  // of the columns of targets
  std::vector<std::vector<std::string>> categories;  // of each feature; none: it is a number
  std::vector<float> means;                          // of each feature, where empty cells are means; 0 for categories
  int64_t rows = 0, width = 0;                       // of the features: one number for each, each category, each part
  std::vector<float> features;                       // row by row
  std::vector<float> values;                         // of the targets, row by row, unless they are labels
  std::vector<CsvLabel> labels;                      // one for each row, if they are wanted
  TestParts parts = {};                              // of the rows, where a share is put aside
};

// The largest file that is read.
constexpr uint64_t kCsvLimit = uint64_t{4} << 30;

// The table in a file. A number is the f32 that is nearest to what is written. Errors: missing; bad_data with
// file:line:column for what is no CSV, records of unequal length, empty cells, text where a number is wanted, numbers
// that are not finite (also once they are rounded to f32), names of columns that stand twice or not at all, and no
// record at all. Wrong cells and records are told together, the first 20 of them.
CsvTable read_csv_table(const std::filesystem::path& file, const CsvColumns& columns);

// The same from memory; `name` stands for the file in messages.
CsvTable parse_csv_table(std::string_view text, std::string_view name, const CsvColumns& columns);

// The delimiter by the words of jobs: the character itself, or tab.
char csv_delimiter(std::string_view word);

// The name of the first column, which may have none, as that of a table of pandas with its index: "1".
std::string csv_name_of_first(const std::string& text);

// Whether a text is a word that often stands for an empty cell: NA, ?, null, ...
bool is_missing_word(std::string_view text);

// Whether a text is a number with a decimal comma: 1,5.
bool has_decimal_comma(std::string_view text);

// What separates the thousands of a text that is a number but for that: the comma of 1,234, the blank of 1 234, the
// point of 1.234,5; "": nothing does.
std::string csv_thousands(std::string_view text);

// What writes a table anew without them, in Python.
std::string csv_pandas(const std::string& thousands, char delimiter);

// The number with a point: 1.5 of 1,5.
std::string with_decimal_point(std::string text);

// Of a name that is none of the columns.
Error no_csv_column(const std::string& name, const std::vector<std::string>& columns, const std::string& file);

// EmptyCells by the words of jobs: error, mean, drop.
EmptyCells empty_csv_cells(std::string_view word);

// Whether a text is read as a number, which may not be finite.
bool is_csv_number(std::string_view text, char decimal = '.');

// Whether these are names of columns, and not their numbers, which columns without names have.
bool are_csv_names(const std::vector<std::string>& columns);

// Whether the first record is names, for who does not know it: of a record of values at least the features are numbers
// (the name of a class is none), or are empty. A number in quotes is a name.
bool has_csv_header(std::string_view text, std::string_view name, int64_t features, const CsvColumns& columns = {});

}  // namespace retrace
