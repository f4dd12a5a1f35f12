#include "retrace/data/transform_kind.h"

namespace retrace {

Shape transformed_shape(const std::vector<std::string>& transforms, const OptionValues& options, Shape image,
                        Split split) {
  for (const auto& name : transforms) {
    const auto* kind = find_kind(all_transforms(), name);
    if (kind && kind->shape && (split == Split::train || kind->every_set))
      image = kind->shape(image, with_standard_values(options, kind->options));
  }
  return image;
}

}  // namespace retrace
