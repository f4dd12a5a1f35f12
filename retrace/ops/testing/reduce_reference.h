#pragma once
// docs/numerics.md 0 and 3 read literally, one number at a time: what the kernels of reductions are compared with.

#include <cmath>
#include <functional>
#include <vector>

#include "retrace/tensor/shape.h"

namespace retrace::reference {

// T(one item) = the item; T(n) = T(first p) + T(rest), p the largest power of two below n.
template <class Item>
Item tree(const std::vector<Item>& items, const std::function<Item(const Item&, const Item&)>& add) {
  if (items.size() == 1) return items[0];
  size_t p = 1;
  while (2 * p < items.size()) p *= 2;
  const auto middle = items.begin() + static_cast<long>(p);
  return add(tree(std::vector<Item>(items.begin(), middle), add), tree(std::vector<Item>(middle, items.end()), add));
}

inline float add(const float& a, const float& b) { return a + b; }

// Consecutive parts of `size` values; the last may be shorter.
inline std::vector<std::vector<float>> parts(const std::vector<float>& x, size_t size) {
  std::vector<std::vector<float>> cut;
  for (size_t i = 0; i < x.size(); i += size)
    cut.emplace_back(x.begin() + static_cast<long>(i), x.begin() + static_cast<long>(std::min(x.size(), i + size)));
  return cut;
}

inline float column_sum(const std::vector<float>& x) {
  std::vector<float> strips;
  for (const auto& strip : parts(x, 16)) {
    float sum = 0;
    for (float v : strip) sum = sum + v;
    strips.push_back(sum);
  }
  return strips.empty() ? 0.0f : tree<float>(strips, add);
}

using Lanes = std::vector<float>;

inline Lanes lanes_of(const std::vector<float>& block) {
  Lanes lanes(16, 0.0f);
  for (size_t r = 0; r < block.size(); ++r) lanes[r % 16] = lanes[r % 16] + block[r];
  return lanes;
}

inline float fold(Lanes lanes) {
  for (size_t half : {8u, 4u, 2u, 1u})
    for (size_t l = 0; l < half; ++l) lanes[l] = lanes[l] + lanes[l + half];
  return lanes[0];
}

inline float row_sum(const std::vector<float>& x) {
  std::vector<Lanes> blocks;
  for (const auto& block : parts(x, 256)) blocks.push_back(lanes_of(block));
  if (blocks.empty()) return 0;
  return fold(tree<Lanes>(blocks, [](const Lanes& a, const Lanes& b) {
    Lanes sum(16);
    for (size_t l = 0; l < 16; ++l) sum[l] = a[l] + b[l];
    return sum;
  }));
}

struct Pair {
  int64_t n = 0;
  float mean = 0, m2 = 0;
};

inline Pair merge(const Pair& a, const Pair& b) {
  const float delta = b.mean - a.mean;
  const float r = static_cast<float>(b.n) / static_cast<float>(a.n + b.n);
  Pair result;
  result.n = a.n + b.n;
  result.mean = std::fma(delta, r, a.mean);
  const float product = delta * delta, weight = static_cast<float>(a.n) * r, sum = a.m2 + b.m2;
  const float between = product * weight;
  result.m2 = sum + between;
  return result;
}

inline Pair column_moments(const std::vector<float>& x) {
  std::vector<Pair> strips;
  for (const auto& strip : parts(x, 16)) {
    Pair pair;
    pair.n = static_cast<int64_t>(strip.size());
    float sum = 0;
    for (float v : strip) sum = sum + v;
    pair.mean = sum / static_cast<float>(pair.n);
    for (float v : strip) {
      const float d = v - pair.mean;
      pair.m2 = std::fma(d, d, pair.m2);
    }
    strips.push_back(pair);
  }
  return strips.empty() ? Pair{0, std::nanf(""), 0} : tree<Pair>(strips, merge);
}

inline Pair row_moments(const std::vector<float>& x) {
  std::vector<Pair> blocks;
  for (const auto& block : parts(x, 256)) {
    Pair pair;
    pair.n = static_cast<int64_t>(block.size());
    pair.mean = fold(lanes_of(block)) / static_cast<float>(pair.n);
    Lanes lanes(16, 0.0f);
    for (size_t r = 0; r < block.size(); ++r) {
      const float d = block[r] - pair.mean;
      lanes[r % 16] = std::fma(d, d, lanes[r % 16]);
    }
    pair.m2 = fold(lanes);
    blocks.push_back(pair);
  }
  return blocks.empty() ? Pair{0, std::nanf(""), 0} : tree<Pair>(blocks, merge);
}

// The values that make each element of the result, in the order of the reduced axes.
inline std::vector<std::vector<float>> groups(const std::vector<float>& x, const Shape& shape, const Shape& axes) {
  int64_t kept = 1;
  for (int i = 0; i < shape.rank(); ++i) kept *= axes.contains(i) ? 1 : shape[i];
  std::vector<std::vector<float>> result(static_cast<size_t>(kept));
  for (size_t i = 0; i < x.size(); ++i) {
    int64_t rest = static_cast<int64_t>(i), group = 0, size = 1;
    for (int axis = shape.rank() - 1; axis >= 0; --axis) {
      if (!axes.contains(axis)) group += rest % shape[axis] * size, size *= shape[axis];
      rest /= shape[axis];
    }
    result[static_cast<size_t>(group)].push_back(x[i]);
  }
  return result;
}

}  // namespace retrace::reference
