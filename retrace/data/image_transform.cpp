#include "retrace/data/image_transform.h"

#include <fmt/format.h>

#include <cstring>

#include "retrace/data/stack.h"

namespace retrace {
namespace {

Tensor moved(const Tensor& image, const ImageMove& move) {
  const BlankTensor blank(image.spec());
  std::memset(blank.bytes, 0, image.spec().bytes());
  const Shape& shape = image.shape();
  move({shape[0], shape[1], static_cast<size_t>(shape[2]) * size_of(image.type()),
        static_cast<const std::byte*>(image.data())},
       blank.bytes);
  return blank.tensor;
}

}  // namespace

Observation with_changed_images(const Observation& observation, std::string_view caller, const ImageChange& change) {
  if (observation.at(0).labels() != "SSC")
    throw Error(ErrorKind::usage, 345, fmt::format("{}: the input is no image", caller))
        .got(observation[0].spec().text())
        .expected("[height,width,channels] with the labels \"SSC\"");
  Observation result;
  for (const auto& variable : observation) result.push_back(variable.labels() == "SSC" ? change(variable) : variable);
  return result;
}

Observation with_moved_images(const Observation& observation, std::string_view transform, const ImageMove& move) {
  return with_changed_images(observation, fmt::format("transform \"{}\"", transform),
                             [&](const Tensor& image) { return moved(image, move); });
}

void require_image_type(const Tensor& image, std::string_view caller) {
  if (image.type() != DType::f32 && image.type() != DType::u8 && image.type() != DType::i32)
    throw Error(ErrorKind::usage, 372, fmt::format("{}: an image is neither f32, u8 nor i32", caller))
        .got(image.spec().text());
}

void require_same_sizes(const Tensor& image, const Tensor& first, std::string_view caller) {
  if (image.shape()[0] != first.shape()[0] || image.shape()[1] != first.shape()[1])
    throw Error(ErrorKind::usage, 387, fmt::format("{}: input and target differ in height or width", caller))
        .got(fmt::format("{} and {}", first.spec().text(), image.spec().text()))
        .help("put the transform \"resize\" before it");
}

}  // namespace retrace
