#pragma once
// A mixing function for 64 bits, for host code, nvcc and NVRTC, which see the same text.

#ifdef __CUDACC__
#define RT_MIX __host__ __device__ constexpr
#else
#define RT_MIX constexpr
#endif

namespace retrace {

// splitmix64's finaliser (Steele, Lea & Flood: Fast splittable pseudorandom number generators, 2014): a bijection.
RT_MIX unsigned long long mix64(unsigned long long x) {
  x ^= x >> 30;
  x *= 0xbf58476d1ce4e5b9ull;
  x ^= x >> 27;
  x *= 0x94d049bb133111ebull;
  return x ^ (x >> 31);
}

// Two numbers mixed into one; for a fixed a it is a bijection of b.
RT_MIX unsigned long long hash_combine(unsigned long long a, unsigned long long b) {
  return mix64(a * 0x9e3779b97f4a7c15ull + b);
}

}  // namespace retrace

#undef RT_MIX
