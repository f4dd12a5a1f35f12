#pragma once
// What the columns of a CSV file are, for who begins with it.

#include <filesystem>

#include "retrace/base/option_rules.h"

namespace retrace {

// Options of the source csv (retrace/data/sources/csv.cpp) that suit the file: the last column is learned. Texts with
// few different values are categories; other texts, as names of people, are not used; where cells of features are
// empty, their means are taken.
OptionValues look_at_csv(const std::filesystem::path& file);

}  // namespace retrace
