#pragma once
// CSV tables with a record for each of some files, or for each text: a column that names or holds the samples, and
// their targets.

#include <filesystem>
#include <string>
#include <vector>

#include "retrace/data/csv_table.h"
#include "retrace/data/source_kind.h"

namespace retrace {

struct FileTableColumns {
  std::string file = "file";              // the column with the names of the files, or with the texts
  std::vector<std::string> targets = {};  // those that are read besides; none: all others
  bool texts = false;                     // there is one, of texts; else they hold numbers
  bool alone = false;                     // no targets are read
};

// Record by record, in the order of the table.
struct FileTable {
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

// The table of a set: train.csv or test.csv in `request.path`; the training set may also be the only table there, of
// any name. Where no other set is read, `request.path` may be the table itself. Errors: missing if that path is not
// there, or is a file where training set and test set are read.
std::filesystem::path table_of(Split split, const SourceRequest& request);

// That `path` is a file, where a folder with both sets is wanted.
Error no_folder_of_tables(const std::filesystem::path& path);

// The names of a table's columns, its first line. Errors: bad_data for cells that no comma separates.
std::vector<std::string> table_columns(CsvReader& reader, const std::filesystem::path& table);

// The numbers of the classes that the texts of a table name. `known`: the names of the classes; none: those that are
// found. Errors: bad_data for a record without a class and for a class that is not known.
struct TableClasses {
  std::vector<std::string> names;
  std::vector<int32_t> numbers;  // of the records
};
TableClasses classes_of_table(const FileTable& table, const std::vector<std::string>& known);

// The columns but that of the files, and whether each holds numbers alone.
struct TargetColumn {
  std::string name;
  bool numbers = true;
};
std::vector<TargetColumn> look_at_file_table(const std::filesystem::path& table, const std::string& file);

}  // namespace retrace
