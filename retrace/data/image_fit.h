#pragma once
// Images brought to one size.

#include <string_view>

#include "retrace/data/image_pixels.h"
#include "retrace/data/image_store.h"

namespace retrace {

// Of the choices of jobs: "exact", "resize", "center-crop".
ImageFit image_fit_of(std::string_view choice);

// The image with the wanted sizes and channels. Channels: grey of colours is round(0.299 R + 0.587 G + 0.114 B),
// colours of grey are equal. Resizing weighs the pixels by a triangle as wide as two pixels of the coarser grid,
// columns first, then rows, in whole numbers: the same bits everywhere. Error(bad_data), with `name`, where the sizes
// differ and are not to be changed, and where the image is smaller than the part to be cut out.
ImagePixels fitted(ImagePixels image, const ImageInfo& wanted, ImageFit fit, std::string_view name);

}  // namespace retrace
