#pragma once
// The text of a job file to start from.

#include <map>
#include <string>
#include <vector>

#include "retrace/data/source_kind.h"

namespace retrace {

// What is known of data by a look at them.
struct FoundData {
  const SourceKind* source = nullptr;
  SourceRequest request = {};
  SourceDescription train = {}, test = {};
  SourceTarget target = {};                       // what is learned
  int64_t classes = 0;                            // 0: no classes are learned
  std::map<std::string, std::string> notes = {};  // why options of the source are as they are
  double test_share = 0;                          // of the training set, where there is no other
  std::vector<int64_t> class_samples = {};        // of each class, where some have far more than others
  double scale = 1, offset = 0;  // deviation and mean of learned values, where they are far from 1 and 0
};

// With comments. `network`: a built-in one; empty: layers that fit the data. `file`: of the job.
std::string start_text(const FoundData& data, const std::string& network, const std::string& file);

}  // namespace retrace
