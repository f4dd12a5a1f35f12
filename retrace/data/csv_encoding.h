#pragma once
// What the features of a CSV file become when all of its records are read.

#include <map>
#include <vector>

#include "retrace/data/csv_table.h"

namespace retrace {

// The texts of each feature that is a category, by its place among the features: one for each record.
using CsvTexts = std::map<size_t, std::vector<CsvLabel>>;

// What columns.test_share puts aside of the records.
TestParts draw_csv_parts(const CsvTable& table, const CsvColumns& wanted, const CsvTexts& texts);

// Puts means for empty cells, which are NaN in table.features, and a number for each category, and for each part of a
// date, in the place of its feature; fills in categories, means and width. Categories and means are those of `wanted`,
// else those of the table, or of the part of it that trains. Error(bad_data) for texts that are no category, for a
// column of numbers without any, and for another width than is wanted.
void encode_csv_features(CsvTable& table, const CsvColumns& wanted, const CsvTexts& texts, const CsvDates& dates);

}  // namespace retrace
