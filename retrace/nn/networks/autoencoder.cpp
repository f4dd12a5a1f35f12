#include "retrace/nn/network_kind.h"

namespace retrace::nn {
namespace {

Layer encode(int64_t filters) {
  return Sequential{conv2d(3, filters, {.padding = same}), relu(), max_pool2d(2, {.stride = 2, .padding = same})};
}

Layer decode(int64_t filters) { return Sequential{transposed_conv2d(2, filters, {.stride = 2}), relu()}; }

// Three convolutions with pooling, three transposed ones: 12,609 numbers.
Layer layers_autoencoder(const NetworkOptions& options) {
  const int64_t width = *options.width;
  const Sequential image{conv2d(1, 1), clipped_relu(1)};
  return Sequential{encode(width),     encode(2 * width), encode(4 * width),           decode(4 * width),
                    decode(2 * width), decode(width),     parallel({{"image", image}})};
}

}  // namespace

NetworkKind autoencoder_network() {
  return {.name = "autoencoder",
          .help = "an image without its noise: three convolutions with pooling, three transposed ones",
          .sample = {32, 32, 1},
          .outputs = {{.name = "image", .kind = OutputKind::image, .loss = "mean-squared-error", .metric = "rmse"}},
          .source = "noisy-digits",
          .width = 8,
          .layers = layers_autoencoder};
}

}  // namespace retrace::nn
