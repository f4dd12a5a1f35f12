#pragma once
// A small problem for tests of train_network(): heights x y over a grid of points.

#include "retrace/data/array_store.h"
#include "retrace/nn/layers.h"

namespace retrace {

inline Datastore products(int64_t count = 40, float factor = 1) {
  std::vector<float> points, heights;
  for (int64_t i = 0; i < count; ++i) {
    const float x = static_cast<float>(i % 8) / 4 - 1, y = static_cast<float>(i / 8) / 2 - 1;
    points.insert(points.end(), {x, y});
    heights.push_back(factor * x * y);
  }
  return array_store({Tensor::from(points, {count, 2}, "BC"), Tensor::from(heights, {count, 1}, "BC")});
}

inline nn::Layer small_layers() { return nn::Sequential{nn::linear(8), nn::relu(), nn::linear(1)}; }

}  // namespace retrace
