#pragma once
// The names of the classes that a run was trained on, in its folder.

#include <filesystem>
#include <string>
#include <vector>

#include "retrace/train/job.h"

namespace retrace {

// In the order of the numbers of the classes; empty: they have no other names than their numbers.
using ClassNames = std::vector<std::string>;

// Those of a training set, as a run keeps them: control characters and broken UTF-8 become '?'.
ClassNames kept_class_names(const std::vector<std::string>& names);

// Those of the data of a job, without reading observations; control characters and broken UTF-8 become '?'. `known`:
// those of a run on such data, which a source may go by whose training set is not there. Errors: those of reading the
// names.
ClassNames class_names_of(const Job& job, const ClassNames& known = {});

// The name of class `number`: its number where it has no other one.
std::string class_name(const ClassNames& names, int64_t number);

// classes.json of a run: {"classes":["cat","dog"]}. Errors: output.
void write_class_names(const std::filesystem::path& run, const ClassNames& names);

// Empty where there is no such file. Errors: bad_data, with the file; those of check_file() (retrace/train/manifest.h).
ClassNames read_class_names(const std::filesystem::path& run);

}  // namespace retrace
