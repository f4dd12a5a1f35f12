#pragma once
// CSV files as stores.

#include <cstdint>
#include <string>
#include <vector>

#include "retrace/data/datastore.h"

namespace retrace {

// What an empty cell of a CSV file means: an error; of a feature the mean of its column in the training set (summed in
// f64 in the order of the records, and rounded once), of a category one of its own; or that its record is left out.
enum class EmptyCells { refused, mean, dropped };

// Options of csv_store.
struct CsvStoreOptions {
  bool header = true;                     // the first line has the names of the columns; else they are 1, 2, 3, ...
  char delimiter = ',';                   // between cells: ',', ';', '|' or '\t'
  char decimal = '.';                     // between a number and its decimals: '.' or ','
  std::vector<std::string> missing = {};  // words that stand for an empty cell: NA, ?
  std::vector<std::string> targets = {};  // the columns that are targets; none named: the last one
  std::vector<std::string> ignored = {};  // columns that are not used
  // The columns that are features, in this order; others are not used, and targets are in the order of `targets`. None:
  // all columns that are neither targets nor ignored, and both in the order of the file. Give those of the training set
  // to the store of the test set.
  std::vector<std::string> features = {};
  // Columns of features that are categories, as text: each becomes a number for each of its categories, in the order of
  // their bytes, 1 for that of the record and 0 for the others.
  std::vector<std::string> categorical = {};
  // Columns of features that are dates, as 2024-05-01, 2024-05-01 12:30 or 1.5.2024: each becomes its days since the
  // origin, rounded once, and with date_parts a number for each "weekday" (from Monday on), "month" and "hour", 1 or 0.
  std::vector<std::string> dates = {};
  std::string date_origin = "1970-01-01";
  std::vector<std::string> date_parts = {};
  EmptyCells empty_cells = EmptyCells::refused;
  // Of each feature: its categories (none: a number), where a text that is not among them is an error; and its mean.
  // None: those that are found. Give those of the training set to the store of the test set.
  std::vector<std::vector<std::string>> categories = {};
  std::vector<float> means = {};
  // What a text is that is none of the given categories: an error, or zeros for all of them.
  bool unknown_categories_are_zeros = false;
  Task task = Task::classification;  // which has one column of targets
  // Of Task::classification: the classes in the order of their numbers; a label that is not among them is an error.
  // None: those that are found. Give those of the training set to the store of the test set.
  std::vector<std::string> class_names = {};
};

// A store in memory whose observations are the records of a CSV file: features, f32[n] "C" in the order of their
// columns, with as many numbers for one as it has categories; then the number of the class, a single i32, or the values
// f32[m] "C".
class CsvDatastore : public Datastore {
 public:
  // The names of the columns that are features, and of those that are targets.
  const std::vector<std::string>& feature_names() const { return feature_names_; }
  const std::vector<std::string>& target_names() const { return target_names_; }
  // Of each feature: its categories (none: it is a number); what its empty cells are, with EmptyCells::mean.
  const std::vector<std::vector<std::string>>& categories() const { return categories_; }
  const std::vector<float>& means() const { return means_; }
  // The names of the classes in the order of their numbers; empty for Task::regression. Where every label is a whole
  // number from 0 on, it is the number of its class, and the names are 0, 1, 2, ... up to the largest; other labels
  // are numbered in the order of their bytes.
  const std::vector<std::string>& class_names() const { return class_names_; }

 private:
  friend struct CsvReading;
  CsvDatastore(Datastore store, std::vector<std::string> features, std::vector<std::string> targets,
               std::vector<std::string> classes, std::vector<std::vector<std::string>> categories,
               std::vector<float> means)
      : Datastore(std::move(store)),
        feature_names_(std::move(features)),
        target_names_(std::move(targets)),
        class_names_(std::move(classes)),
        categories_(std::move(categories)),
        means_(std::move(means)) {}
  std::vector<std::string> feature_names_, target_names_, class_names_;
  std::vector<std::vector<std::string>> categories_;
  std::vector<float> means_;
};

// Reads a CSV file by RFC 4180, as UTF-8: commas, or the delimiter of the options, lines that end with LF or CRLF,
// cells in quotes where they hold commas, quotes (written twice) or line breaks. A number has a point, or the decimal
// comma of the options, and no separators; it becomes the nearest f32, whatever the locale is. Errors: missing;
// bad_data with file:line:column and what helps for empty cells that are refused, text where a number is wanted,
// infinities and NaN, records of unequal length, unknown labels and categories; usage for options.
CsvDatastore csv_store(const std::string& file, const CsvStoreOptions& options = {}, Place place = Place::here());

// The same file as two stores: the records that train, and a share of them, above 0 and below 1, that is put aside for
// tests as split_by_class() does, for Task::regression as split_at_random(). One record of each category stays in
// training, and means are those of the records that train. Errors: the same, and those of these.
std::pair<CsvDatastore, CsvDatastore> split_csv(const std::string& file, double test_share,
                                                const CsvStoreOptions& options = {}, uint64_t seed = 0,
                                                Place place = Place::here());

}  // namespace retrace
