#pragma once
// Transforms of observations by name: retrace/data/transforms/NAME.cpp defines `TransformKind NAME_transform()`.

#include "retrace/base/kinds.h"
#include "retrace/base/option_rules.h"
#include "retrace/data/transform.h"

namespace retrace {

struct TransformKind {
  std::string name;
  std::string help;  // one line
  std::vector<OptionRule> options = {};
  bool every_set = false;  // whether it is done to test sets and to what is predicted, too: it draws nothing then
  // What is done to each observation, for complete options. Variable 0 is the input of the network. Both are called in
  // a FloatingPointScope, which the loading of a job and transform() open: they need none.
  std::function<TransformFunction(const OptionValues& options)> make;
};

// Every transform, in the order of the files. Generated.
const std::vector<TransformKind>& all_transforms();

}  // namespace retrace
