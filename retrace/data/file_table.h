#pragma once
// CSV tables with a record for each of some files.

#include <filesystem>
#include <string>
#include <vector>

#include "retrace/data/csv_table.h"

namespace retrace {

struct FileTableColumns {
  std::string file = "file";              // the column with the names of the files
  std::vector<std::string> targets = {};  // those that are read besides; none: all others
  bool texts = false;                     // there is one, of texts; else they hold numbers
};

// Record by record, in the order of the table.
struct FileTable {
  std::vector<std::string> header;   // all names of columns
  std::vector<std::string> targets;  // those that were read
  std::vector<CsvLabel> files;       // what the column of files says
  std::vector<CsvLabel> texts = {};  // of the one column
  std::vector<float> values = {};    // or a number for each column

  // TABLE:LINE:COLUMN
  std::string place(const CsvLabel& cell) const;
  std::string name;  // of the table, in messages
};

// A table with a line of names. Errors: missing; bad_data, with file:line:column, for columns that are not there and
// several of them where one is wanted, and those of CSV files.
FileTable read_file_table(const std::filesystem::path& table, const FileTableColumns& columns);

// The columns but that of the files, and whether each holds numbers alone.
struct TargetColumn {
  std::string name;
  bool numbers = true;
};
std::vector<TargetColumn> look_at_file_table(const std::filesystem::path& table, const std::string& file);

}  // namespace retrace
