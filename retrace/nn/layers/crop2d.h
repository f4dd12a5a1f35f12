#ifndef RETRACE_NN_LAYERS_CROP2D_H
#define RETRACE_NN_LAYERS_CROP2D_H

#include "retrace/nn/layer.h"
#include "retrace/ops/window_options.h"

namespace retrace::nn {

// Options of crop2d: one of both.
struct Crop2dOptions {
  Pair size = 0;          // of the result, around the centre: floor((height - size) / 2) rows above it; 0: by cropping
  Padding cropping = {};  // rows and columns that are cut off; not `same`
};

// A part of an image x [batch,height,width,channels]. Error(usage) for another rank, for both options or none, and
// where nothing would be left.
Layer crop2d(const Crop2dOptions& options, Place place = Place::here());

}  // namespace retrace::nn

#endif  // RETRACE_NN_LAYERS_CROP2D_H
