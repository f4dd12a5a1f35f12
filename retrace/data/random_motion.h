#pragma once
// What augment() and the transform of jobs have in common.

#include <string_view>

#include "retrace/data/augment.h"

namespace retrace {

// So far the options of augment() and of jobs go: no pixel comes from further than a whole number can say.
struct MotionLimits {
  static constexpr double rotation = 360, shear = 89, least_scale = 0.01, most_scale = 100, translation = 65535;
};

// Moves the images of an observation as augment() says; `caller` begins its messages. The options are in order.
TransformFunction random_motion(const AugmentOptions& options, std::string_view caller);

}  // namespace retrace
