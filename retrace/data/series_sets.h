#pragma once
// The training set and the test set of the data source "series", as its files are read.

#include "retrace/data/class_folders.h"
#include "retrace/data/padded_series.h"
#include "retrace/data/series_file.h"
#include "retrace/data/source_kind.h"

namespace retrace {

// How messages call the files, and the ends of their names.
const ClassFolderWords& series_words();
// DIR/train, DIR/test.
std::filesystem::path folder_of_series(Split split, const SourceRequest& request);
// The files of a folder but the table of their targets: there is one at least.
std::vector<std::filesystem::path> files_of_series(const std::filesystem::path& folder);

// What the options of the source say.
SeriesTarget target_of_series(const OptionValues& options);
SeriesColumns columns_of_series(const OptionValues& options);
SeriesForm form_of_series(const OptionValues& options);
bool are_words(const OptionValues& options);

struct ReadSeries {
  std::vector<TargetedSeries> series = {};
  std::vector<std::string> files = {};
  std::vector<std::string> classes = {};       // or tokens: those of the training set
  std::vector<std::string> target_names = {};  // of columns
  int64_t width = 1;                           // as SeriesForm has it
};

// A series more, cut to the length of the form.
void add_series(ReadSeries& made, const std::filesystem::path& path, TargetedSeries series, const SeriesForm& form);

// Errors: missing; bad_data, with the file, for what does not fit: other columns, classes and words that the training
// set lacks, files without targets, texts that a series is too short for.
ReadSeries read_series(Split split, const SourceRequest& request);

// The names of the classes of the training set, or of its tokens. Errors: the same.
std::vector<std::string> class_names_of_series(const SourceRequest& request);

}  // namespace retrace
