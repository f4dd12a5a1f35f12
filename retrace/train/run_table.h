#pragma once
// The table that a run was trained on, RUN/table.json: the names of its columns and classes. By them tables are tested
// and predicted without the training set.

#include <filesystem>

#include "retrace/data/source_kind.h"

namespace retrace {

// {"features":["x","y"],"targets":["kind"],"classes":["cat","dog"]}, with "categories":[[],["a","b"]] and
// "means":["1.5","0"] of each feature where the table has them. Control characters and broken UTF-8 become '?'; where
// two names are then the same, and for data without columns, nothing is written. Errors: output.
void write_run_table(const std::filesystem::path& run, const TrainingFacts& facts);

// Nothing is known where there is no such file. Errors: bad_data, with the file; those of check_file()
// (retrace/train/manifest.h).
TrainingFacts read_run_table(const std::filesystem::path& run);

// All that the run keeps of its training set: the table, or else the names of the classes. Errors: of both.
TrainingFacts read_run_facts(const std::filesystem::path& run);

}  // namespace retrace
