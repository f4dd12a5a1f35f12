#pragma once
// Transforms of observations by name: retrace/data/transforms/NAME.cpp defines `TransformKind NAME_transform()`.

#include "retrace/base/kinds.h"
#include "retrace/base/option_rules.h"
#include "retrace/data/image_set.h"
#include "retrace/data/transform.h"

namespace retrace {

struct TransformKind {
  std::string name;
  std::string_view help;  // one line
  std::vector<OptionRule> options = {};
  bool every_set = false;  // whether it is done to test sets and to what is predicted, too: it draws nothing then
  // The sizes of an image [height,width,channels] after it, for complete options; a size that is not known is 0. Not
  // set: they stay. Error(usage) for an image that it does not take.
  std::function<Shape(const Shape& image, const OptionValues& options)> shape = {};
  // What is done to each observation, for complete options. Variable 0 is the input of the network. Both are called in
  // a FloatingPointScope, which the loading of a job and transform() open: they need none.
  std::function<TransformFunction(const OptionValues& options)> make;
};

// The sizes of an image after those transforms of a job that are done to a set: all of them to a training set, else
// those of every set. Names that are unknown are left out. Errors: those of TransformKind::shape.
Shape transformed_shape(const std::vector<std::string>& transforms, const OptionValues& options, Shape image,
                        Split split);

// Every transform, in the order of the files. Generated.
const std::vector<TransformKind>& all_transforms();

}  // namespace retrace
