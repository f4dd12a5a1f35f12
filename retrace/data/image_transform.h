#pragma once
// What transforms of images have in common.

#include <cstddef>
#include <cstdint>
#include <functional>
#include <string_view>

#include "retrace/data/datastore.h"

namespace retrace {

// The bytes of an image [height,width,channels] in row-major order.
struct ImageView {
  int64_t height = 0, width = 0;
  size_t pixel = 0;  // bytes of one
  const std::byte* bytes = nullptr;
};

// Writes an image of the same sizes to zeros.
using ImageMove = std::function<void(const ImageView& image, std::byte* to)>;

using ImageChange = std::function<Tensor(const Tensor& image)>;

// The observation with every image in it changed: the input, and targets that are images. Images are tensors of three
// axes with the labels "SSC"; of those of type i32 each pixel is the number of a class, which is moved and never mixed
// with others. Error(usage), which begins with `caller`, if the input is none.
Observation with_changed_images(const Observation& observation, std::string_view caller, const ImageChange& change);
// The same with images that are moved alike, and the name of a transform.
Observation with_moved_images(const Observation& observation, std::string_view transform, const ImageMove& move);

// Error(usage), which begins with `caller`, unless the image is f32, u8 or i32.
void require_image_type(const Tensor& image, std::string_view caller);
// The same unless both images have one height and one width.
void require_same_sizes(const Tensor& image, const Tensor& first, std::string_view caller);

}  // namespace retrace
