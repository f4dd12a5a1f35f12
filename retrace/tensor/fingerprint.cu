// Sums of the terms of a fingerprint. They wrap, so that any order gives the same.
#include "retrace/base/mix64.h"
#include "retrace/device/cuda/kernel.h"
#include "retrace/tensor/fingerprint_cuda.h"

namespace retrace::cuda {
namespace {

// bits(x) is what an element counts as; every NaN counts alike. The threads of a block are a power of two, and have an
// element of shared memory each.
template <class Word, class Bits>
RT_DEVICE void add_terms(const FingerprintArguments<Word>& a, Bits bits) {
  const auto sums = shared<unsigned long long>(block_threads().x);
  const int t = static_cast<int>(thread().x);
  const unsigned step = blocks().x * block_threads().x;
  unsigned long long sum = 0;
  for (unsigned long long i = element_number(); i < a.count; i += step) {
    const Word element = a.elements[static_cast<long long>(i)];
    sum += mix64(i * 0x9e3779b97f4a7c15ull + bits(element));
  }
  sums[t] = sum;
  for (int half = static_cast<int>(block_threads().x) / 2; half > 0; half /= 2) {
    barrier();
    if (t < half) sums[t] += sums[t + half];
  }
  if (t == 0) atomic_add(a.sum, 0, sums[0]);
}

}  // namespace

RT_KERNEL(fingerprint_f32, FingerprintArguments<unsigned>, a) {
  add_terms(a, [](unsigned x) { return (x & 0x7fffffffu) > 0x7f800000u ? 0x7fc00000u : x; });
}
RT_KERNEL(fingerprint_f64, FingerprintArguments<unsigned long long>, a) {
  add_terms(a, [](unsigned long long x) { return (x & ~(1ull << 63)) > 0x7ff0000000000000ull ? 0x7fc00000ull : x; });
}
RT_KERNEL(fingerprint_i32, FingerprintArguments<unsigned>, a) {
  add_terms(a, [](unsigned x) { return x; });
}
RT_KERNEL(fingerprint_i64, FingerprintArguments<unsigned long long>, a) {
  add_terms(a, [](unsigned long long x) { return x; });
}
RT_KERNEL(fingerprint_bf16, FingerprintArguments<unsigned short>, a) {
  add_terms(a, [](unsigned short x) { return (x & 0x7fffu) > 0x7f80u ? 0x7fc00000u : x; });
}
RT_KERNEL(fingerprint_f16, FingerprintArguments<unsigned short>, a) {
  add_terms(a, [](unsigned short x) { return (x & 0x7fffu) > 0x7c00u ? 0x7fc00000u : x; });
}
RT_KERNEL(fingerprint_u8, FingerprintArguments<unsigned char>, a) {
  add_terms(a, [](unsigned char x) { return x; });
}

}  // namespace retrace::cuda
