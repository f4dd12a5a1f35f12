#pragma once
// A file with a series: positions one after another, features at each, and targets at each if there are any.

#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

#include "retrace/data/csv_table.h"

namespace retrace {

// What the columns of such files are.
struct SeriesColumns {
  int64_t features = 1;                   // at a position
  std::vector<std::string> targets = {};  // of CSV files, by name; none named: the last one
  std::vector<std::string> ignored = {};  // of CSV files
  bool at_positions = false;              // whether there are targets; else all columns that are used are features
  bool labels = false;                    // the target is one label, which names a class
};

struct SeriesFile {
  std::vector<float> values;              // features, position by position
  std::vector<float> targets;             // numbers, the same
  std::vector<CsvLabel> labels;           // or one for each position
  std::vector<std::string> target_names;  // of the columns of targets
};

// A CSV file, with or without a line of names, or an NPY file with an array [positions, features and then targets].
// `for_inputs`: targets are not read, and may be missing. Errors: bad_data, with the file, for other numbers of
// columns, for no position at all, for numbers that are not finite, and for labels in NPY files that are no class
// numbers; those of CSV and NPY files.
SeriesFile read_series_file(const std::filesystem::path& path, const SeriesColumns& columns, bool for_inputs = false);

// The columns of the file, as far as they are there: from its start.
int64_t width_of_series(const std::filesystem::path& path);

}  // namespace retrace
