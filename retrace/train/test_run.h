#pragma once
// What `retrace test` does: a trained run is measured.

#include <filesystem>
#include <string>
#include <vector>

#include "retrace/train/confusion.h"
#include "retrace/train/job.h"

namespace retrace {

struct TestRunOptions {
  // Keys that are replaced: those of [data] but the source, training.metrics and its options, device, threads.
  std::vector<JobOverride> overrides = {};
  bool classes = false;  // measure every class of the outputs that are class scores, too
};

// The classes of an output.
struct TestedClasses {
  std::string output;
  std::vector<std::string> names;       // of the classes; their numbers where the data have no names
  std::vector<ClassMeasures> measures;  // of each class
  std::string table;                    // the name of its confusion matrix, which is one of the tables
};

struct TestRunResult {
  std::string job;
  int64_t samples = 0;
  double loss = 0;         // NaN where it is not known
  bool loss_known = true;  // false: of a run of a program whose loss is a function
  MetricValues metrics;
  MetricTables tables = {};
  std::vector<TestedClasses> classes = {};
};

// Measures the weights of a run on its test set by the code of its validations: the same bits, with any threads and
// device. Errors: as predict_run(); usage for an override of another key; those of reading the data.
TestRunResult test_run(const std::filesystem::path& run, const TestRunOptions& options = {});

}  // namespace retrace
