// make test-exhaustive: each elementary function of one argument for all 2^32 inputs, against the C library's double
// function rounded once. Prints the worst difference in units in the last place; fails above the contract's bound.
// Names of functions as arguments select some.
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "tests/exhaustive.cpp"
#include "retrace/device/cpu/targets.h"

#include "retrace/device/cpu/simd.h"
#include "tests/elementary_kernels.h"

#if HWY_ONCE
#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <string_view>

#include "retrace/base/error.h"
#include "retrace/device/cpu/threads.h"
#include "tests/elementary_reference.h"

namespace retrace {

RT_EXPORT_KERNEL(unary_kernel, unary_loop);

namespace {

constexpr int64_t kPiece = 1 << 16;
constexpr int64_t kPieces = (int64_t{1} << 32) / kPiece;

struct Worst {
  int64_t units = 0;  // largest excess first: see allowed()
  uint32_t where = 0;
  int64_t inexact = 0;  // results that are not the correctly rounded one
  bool failed = false;
};

// The contract: 1 unit; sin and cos 2 beyond 2^20.
int64_t allowed(std::string_view name, float x) {
  return (name == "sin" || name == "cos") && std::fabs(x) > 0x1p20f ? 2 : 1;
}

Worst check_piece(int which, int64_t piece) {
  const auto& function = elementary::functions()[static_cast<size_t>(which)];
  std::vector<float> x(kPiece), y(kPiece);
  for (int64_t i = 0; i < kPiece; ++i)
    x[static_cast<size_t>(i)] = elementary::float_of(static_cast<uint32_t>(piece * kPiece + i));
  unary_kernel.get()(which, x.data(), y.data(), kPiece);
  Worst worst;
  for (size_t i = 0; i < x.size(); ++i) {
    const int64_t units = elementary::difference(y[i], function.reference(x[i]), function.flushes);
    worst.inexact += units > 0;
    if (units > worst.units) worst.units = units, worst.where = elementary::bits_of(x[i]);
    worst.failed |= units > allowed(function.name, x[i]);
  }
  return worst;
}

bool check(int which) {
  const auto& function = elementary::functions()[static_cast<size_t>(which)];
  const auto begin = std::chrono::steady_clock::now();
  std::vector<Worst> pieces(static_cast<size_t>(kPieces));
  run_pieces(kPieces, [&](int64_t piece) { pieces[static_cast<size_t>(piece)] = check_piece(which, piece); });
  Worst all;
  for (const Worst& piece : pieces) {
    if (piece.units > all.units) all.units = piece.units, all.where = piece.where;
    all.inexact += piece.inexact;
    all.failed |= piece.failed;
  }
  fmt::print("{:<9} worst {} ulp, at {:a}; {:.4f} % not correctly rounded; {:.0f} s{}\n", function.name, all.units,
             elementary::float_of(all.where), 100.0 * static_cast<double>(all.inexact) / 4294967296.0,
             std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count(),
             all.failed ? "; above the bound" : "");
  std::fflush(stdout);
  return !all.failed;
}

}  // namespace
}  // namespace retrace

int main(int count, char** arguments) {
  const std::vector<std::string_view> wanted(arguments + 1, arguments + count);
  const auto& functions = retrace::elementary::functions();
  bool good = true;
  for (size_t which = 0; which < functions.size(); ++which)
    if (wanted.empty() || std::find(wanted.begin(), wanted.end(), functions[which].name) != wanted.end())
      good &= retrace::check(static_cast<int>(which));
  return good ? 0 : 1;
}
#endif
