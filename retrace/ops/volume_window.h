#pragma once
// Windows over volumes [batch,depth,height,width,channels], as windows over images.

#include "retrace/ops/op.h"
#include "retrace/ops/window_options.h"

namespace retrace {

// How a window moves along the depth, with everything resolved.
struct DepthWindow {
  int64_t size = 1, stride = 1, dilation = 1, front = 0, back = 0;
  int64_t outputs = 0;  // 1 or more
};

// Throws Error(usage) that names the op where x is no volume, unlabelled or "BSSSC".
void check_volume(const char* op, const Tensor& x, Place place);
// The window over the depth of the volume x. Error(usage) where its sizes are not usable or it does not fit.
DepthWindow depth_window(const char* op, const Tensor& x, int64_t size, int64_t stride, int64_t dilation,
                         const EndPadding& padding, Place place);

// The images of the volume x, [batch * depth,height,width,channels], without labels.
Tensor images_of_volume(const Tensor& x, Place place);
// The reverse: volumes of `depth` images each, with the labels of x.
Tensor volume_of_images(const Tensor& images, int64_t depth, const Tensor& x, Place place);

// A pooling of volumes: image(images) along height and width, then depth(images) of [batch,depth,positions,channels],
// a window along the height.
Tensor pooled_volume(const Tensor& x, FunctionRef<Tensor(const Tensor&)> image,
                     FunctionRef<Tensor(const Tensor&)> depth, Place place);
// {front, back, 0, 0}: the padding of that window. Error(usage) where it is not smaller than the window.
Padding depth_padding(const char* op, const Tensor& x, const DepthWindow& window, Place place);
// The volume x as one image [batch,depth * height,width,channels], which a global pooling makes one pixel of.
Tensor image_of_volume(const Tensor& x, Place place);
// That pixel as a volume, with the labels of x.
Tensor volume_of_pixel(const Tensor& pixel, const Tensor& x, Place place);

}  // namespace retrace
