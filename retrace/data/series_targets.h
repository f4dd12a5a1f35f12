#pragma once
// The targets of files, in a table beside them: targets.csv.

#include <filesystem>
#include <string>
#include <vector>

namespace retrace {

inline constexpr const char* kTargetsFile = "targets.csv";

// One row for each of the files, in their order.
struct FileTargets {
  std::vector<std::string> names;       // of the columns
  std::vector<float> values = {};       // row by row
  std::vector<std::string> texts = {};  // or one text for each file
};

// FOLDER/targets.csv: a line of names, and a record for each of these files of the folder. The column `file` has the
// name of the file; `columns` are the targets (none named: all others), numbers or, if `texts`, one text, which may be
// empty. Errors: missing; bad_data, with file:line:column, for columns that are not there, for files without a record,
// with two, and records without a file; those of CSV files.
FileTargets read_file_targets(const std::filesystem::path& folder, const std::vector<std::filesystem::path>& files,
                              const std::vector<std::string>& columns, bool texts);

}  // namespace retrace
