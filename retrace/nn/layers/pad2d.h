#ifndef RETRACE_NN_LAYERS_PAD2D_H
#define RETRACE_NN_LAYERS_PAD2D_H

#include <string>

#include "retrace/nn/layer.h"
#include "retrace/ops/window_options.h"

namespace retrace::nn {

// Options of pad2d.
struct Pad2dOptions {
  std::string mode = "constant";  // "constant", "reflect" or "replicate", as of the op pad
  double value = 0;               // of the mode "constant"
};

// The op pad along height and width of an image x [batch,height,width,channels]; padding: not `same`. Error(usage) as
// of the op.
Layer pad2d(const Padding& padding, const Pad2dOptions& options = {}, Place place = Place::here());

}  // namespace retrace::nn

#endif  // RETRACE_NN_LAYERS_PAD2D_H
