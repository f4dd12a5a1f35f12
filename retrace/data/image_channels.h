#pragma once
// Grey images of colours, and the other way round.

#include <string_view>

#include "retrace/data/transform_kind.h"
#include "retrace/tensor/tensor.h"

namespace retrace {

// The image "SSC", f32 or u8, with 1 channel or 3. Grey of colours is 0.299 R + 0.587 G + 0.114 B, added from the left
// in binary64 and rounded once (u8: halves up); colours of grey are equal. One that has so many channels stays as it
// is. Error(usage), which begins with `caller`, for other numbers of channels.
Tensor with_image_channels(const Tensor& image, int64_t channels, std::string_view caller);
// The shape of the result; the channels of `image` may be 0 for unknown. The same error.
Shape with_image_channels(const Shape& image, int64_t channels, std::string_view caller);

// A transform of every set that does it.
TransformKind channel_transform(std::string name, std::string_view help, int64_t channels);

}  // namespace retrace
