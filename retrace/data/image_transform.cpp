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

}  // namespace retrace
