#pragma once
// Random numbers of loaders and generators: keyed by their purpose, never by who draws them or when.

#include <array>
#include <cstdint>
#include <string_view>
#include <vector>

namespace retrace {

// The numbers that belong to (seed, purpose, step, op, sample), in order: element 0, 1, 2, ... Loaders use their pass
// over the data as step, the depth of nested transforms as op, the index in the data set as sample.
class RandomStream {
 public:
  RandomStream(uint64_t seed, std::string_view purpose, uint64_t step, uint64_t op, uint64_t sample);

  uint32_t bits();
  // Uniform in [0, 1): the 24 high bits times 2^-24.
  float uniform();
  // low + (high - low) * uniform(), in binary64.
  double uniform(double low, double high) { return low + (high - low) * static_cast<double>(uniform()); }
  // Uniform in 0 .. n-1, by the high half of a product; n in 1 .. 2^32.
  uint64_t below(uint64_t n) { return bits() * n >> 32; }

 private:
  uint64_t key_, sample_;
  uint64_t element_ = 0;
  std::array<uint32_t, 4> block_{};
};

// A random order of 0 .. n-1: the same for equal arguments. Throws Error(usage) for n above 2^32.
std::vector<int64_t> random_order(int64_t n, uint64_t seed, std::string_view purpose, uint64_t step);

}  // namespace retrace
