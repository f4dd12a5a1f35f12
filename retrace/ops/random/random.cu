// Random numbers, one thread a block of the generator: four elements of a sample.
#include "retrace/base/mix64.h"
#include "retrace/base/philox_core.h"
#include "retrace/base/scalar.h"
#include "retrace/device/cuda/kernel.h"
#include "retrace/ops/random/random_cuda.h"

namespace retrace::cuda {
namespace {

// stream_key of retrace/base/philox.h.
template <class T>
RT_DEVICE unsigned long long stream_key_of(const DrawArguments<T>& a) {
  const unsigned seed_low = a.key[0], seed_high = a.key[1], step_low = a.key[2], step_high = a.key[3];
  const unsigned long long seed = seed_low | static_cast<unsigned long long>(seed_high) << 32;
  const unsigned long long step = step_low | static_cast<unsigned long long>(step_high) << 32;
  return hash_combine(hash_combine(hash_combine(mix64(seed + 0x9e3779b97f4a7c15ull), a.purpose), step), a.ordinal);
}

// The elements of this thread are those that `make` makes of its four words.
template <class T, class Make>
RT_DEVICE void draw(const DrawArguments<T>& a, Make make) {
  const unsigned i = element_number();
  if (i >= a.quads) return;
  const auto [sample, quad] = a.quads_each.split(i);
  const PhiloxWords words = philox_words(stream_key_of(a), a.first_sample + sample, quad);
  T values[4];
  make(words, values);
  const Global<T> to = a.y + (static_cast<long long>(sample) * a.elements + quad * 4);
  RT_UNROLL
  for (unsigned k = 0; k < 4; ++k)
    if (quad * 4 + k < a.elements) to[k] = values[k];
}

struct Uniform {
  RT_DEVICE void operator()(const PhiloxWords& words, float* values) const {
    RT_UNROLL
    for (int k = 0; k < 4; ++k) values[k] = uniform_from(words.word[k]);
  }
};

// Two pairs, each of two words.
struct Normal {
  RT_DEVICE void operator()(const PhiloxWords& words, float* values) const {
    RT_UNROLL
    for (int k = 0; k < 4; k += 2) {
      const float u = uniform_from(words.word[k]), v = uniform_from(words.word[k + 1]);
      const float radius = rules::sqrt(-2.0f * rules::log(1.0f - u)), angle = 0x1.921fb6p2f * v;
      values[k] = radius * rules::cos(angle);
      values[k + 1] = radius * rules::sin(angle);
    }
  }
};

struct Integers {
  unsigned n;
  RT_DEVICE void operator()(const PhiloxWords& words, int* values) const {
    RT_UNROLL
    for (int k = 0; k < 4; ++k) values[k] = static_cast<int>(bounded_from(words.word[k], n));
  }
};

}  // namespace

RT_KERNEL(random_uniform, DrawArguments<float>, a) { draw(a, Uniform()); }
RT_KERNEL(random_normal, DrawArguments<float>, a) { draw(a, Normal()); }
RT_KERNEL(random_integers, DrawArguments<int>, a) { draw(a, Integers{a.n}); }

}  // namespace retrace::cuda
