// The worst host for the library: linked with -Ofast, so that denormal numbers are flushed in the whole process, and
// rounding upward. The golden fingerprints must not change.

#include <gtest/gtest.h>

#include <cfenv>
#include <cstdio>

int main(int argc, char** argv) {
  testing::InitGoogleTest(&argc, argv);
  std::fesetround(FE_UPWARD);

  // Without these effects the program would prove nothing. Volatile: the compiler must not fold them.
  volatile float one = 1.0f, tiny = 1e-30f, smallest = 1e-38f, factor = 0.01f;
  volatile float rounded = one + tiny;
  if (!(rounded > 1.0f)) return std::fputs("the rounding mode is not upward\n", stderr), 1;
#if defined(__x86_64__)
  volatile float flushed = smallest * factor;
  if (flushed != 0.0f) return std::fputs("denormal numbers are not flushed\n", stderr), 1;
#endif
  const int result = RUN_ALL_TESTS();
  if (std::fegetround() != FE_UPWARD) return std::fputs("the library changed the caller's rounding mode\n", stderr), 1;
  return result;
}
