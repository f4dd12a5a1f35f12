#pragma once
// Classes that are named by labels in files.

#include <cstdint>
#include <set>
#include <string>
#include <vector>

#include "retrace/data/csv_table.h"

namespace retrace {

// Whether labels stand for classes, for who does not know it: names, or few whole numbers.
bool are_class_labels(const std::set<std::string>& labels);

// The classes that have these labels: 0, 1, ... up to the largest where all are whole numbers from 0 on, else the
// labels in the order of their bytes. `where`: the file, in messages. Error(bad_data) for more than 65536.
std::vector<std::string> classes_of_labels(const std::set<std::string>& labels, const std::string& where);

// The numbers of the labels among these classes. Errors: bad_data, with the places in the file, for the first 20 that
// are none of them.
std::vector<int32_t> numbers_of_labels(const std::vector<CsvLabel>& labels, const std::string& file,
                                       const std::vector<std::string>& classes);

}  // namespace retrace
