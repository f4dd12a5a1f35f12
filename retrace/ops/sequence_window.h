#pragma once
// Windows over sequences, as windows over images one row high.

#include "retrace/ops/op.h"
#include "retrace/ops/window_options.h"

namespace retrace {

// x [batch,length,channels], unlabelled or "BTC", as the image [batch,1,length,channels], unlabelled or "BSSC". Throws
// Error(usage) that names the op for another rank or other labels.
Tensor image_of_sequence(const char* op, const Tensor& x, Place place);
// The image [batch,1,length,channels] as a sequence with the labels of x.
Tensor sequence_of_image(const Tensor& image, const Tensor& x, Place place);
// The padding of that image, for a window of `size` elements.
Padding image_padding(const EndPadding& padding, int64_t size, int64_t dilation = 1);

}  // namespace retrace
