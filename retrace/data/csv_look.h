#pragma once
// What the columns of a CSV file are, for who begins with it.

#include <filesystem>
#include <string>

#include "retrace/data/source_kind.h"

namespace retrace {

// Options of the source csv (retrace/data/sources/csv.cpp) that suit the file. `target`: the column that is learned;
// empty: one that is called as targets are ("target", "label", "class", ...), else the last one. Texts with few
// different values are categories; numbers of the records, other texts, as names of people, and columns without a value
// are not used; where cells of features are empty, their means are taken, and where targets are, records are left out.
// Words as NA among numbers stand for empty cells. The number of features is not among the options. Errors: those of
// reading; bad_data for a target that is not there and for numbers with commas that may be no decimals.
DataLook look_at_csv(const std::filesystem::path& file, const std::string& target = {});

}  // namespace retrace
