#include "retrace/nn/layers/image_input.h"

#include <fmt/format.h>

namespace retrace::nn {

Layer image_input(const Shape& sample, Place place) {
  const auto check = [=](Walk&, const Tree& input) {
    const Tensor& x = input.tensor();
    bool fits = x.rank() == sample.rank() + 1;
    for (int i = 0; fits && i < sample.rank(); ++i) fits = x.shape()[i + 1] == sample[i];
    if (!fits)
      throw Error(ErrorKind::usage, 195, fmt::format("image_input: a sample is not {}", sample.text()))
          .where(place)
          .got(x.spec().text())
          .expected("a batch axis, then " + sample.text());
    return input;
  };
  return Layer("", check, sample);
}

}  // namespace retrace::nn
