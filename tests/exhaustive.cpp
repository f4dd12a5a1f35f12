// make test-exhaustive: each function of base/elementary*.h, whether or not there is an op of it, and tan, sinh,
// cosh, asin, acos and atan, against the C library's double function, not rounded: all 2^32 inputs of those of one
// argument, 2^29 pairs of numbers for pow. Prints the worst error in units in the last place of the exact value; fails
// above the contract's bound. Names of functions as arguments select some.
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
#include <functional>
#include <string>
#include <string_view>

#include "retrace/base/error.h"
#include "retrace/device/cpu/threads.h"
#include "tests/elementary_reference.h"

namespace retrace {

RT_EXPORT_KERNEL(unary_kernel, unary_loop);
RT_EXPORT_KERNEL(pow_kernel, pow_loop);

namespace {

constexpr int64_t kPiece = 1 << 16;
constexpr int64_t kPieces = (int64_t{1} << 32) / kPiece;
constexpr int64_t kPowPieces = 1 << 13;  // 2^29 pairs

struct Worst {
  double units = 0, where = 0, second = 0;  // at which x (and y)
  int64_t inexact = 0;                      // results that are not the nearest one
  bool failed = false;

  void add(double error, double bound, double x, double y = 0) {
    inexact += error > 0.5;
    if (error > units) units = error, where = x, second = y;
    failed |= error > bound;
  }
  void add(const Worst& piece) {
    if (piece.units > units) units = piece.units, where = piece.where, second = piece.second;
    inexact += piece.inexact;
    failed |= piece.failed;
  }
};

// The contract; sin and cos have 2 units beyond 2^20, pow 2.
double allowed(const elementary::Function& function, float x) {
  const std::string_view name = function.name;
  return (name == "sin" || name == "cos") && std::fabs(x) > 0x1p20f ? 2 : function.bound;
}

Worst check_piece(int which, int64_t piece) {
  const auto& function = elementary::functions()[static_cast<size_t>(which)];
  std::vector<float> x(kPiece), y(kPiece);
  for (int64_t i = 0; i < kPiece; ++i)
    x[static_cast<size_t>(i)] = elementary::float_of(static_cast<uint32_t>(piece * kPiece + i));
  unary_kernel.get()(which, x.data(), y.data(), kPiece);
  Worst worst;
  for (size_t i = 0; i < x.size(); ++i)
    worst.add(elementary::difference(y[i], function.reference(x[i]), function.flushes), allowed(function, x[i]), x[i]);
  return worst;
}

Worst check_pow_piece(int64_t piece) {
  const auto pairs = elementary::pow_inputs(static_cast<uint64_t>(piece) * kPiece / 4, kPiece / 4);
  std::vector<float> z(pairs.x.size());
  pow_kernel.get()(pairs.x.data(), pairs.y.data(), z.data(), static_cast<int64_t>(z.size()));
  Worst worst;
  for (size_t i = 0; i < z.size(); ++i)
    worst.add(elementary::difference(z[i], std::pow(double{pairs.x[i]}, double{pairs.y[i]}), false), 2, pairs.x[i],
              pairs.y[i]);
  return worst;
}

bool check(std::string_view name, int64_t count, const std::function<Worst(int64_t)>& check_one) {
  const auto begin = std::chrono::steady_clock::now();
  std::vector<Worst> pieces(static_cast<size_t>(count));
  run_pieces(count, [&](int64_t piece) { pieces[static_cast<size_t>(piece)] = check_one(piece); });
  Worst all;
  for (const Worst& piece : pieces) all.add(piece);
  const std::string at =
      name == "pow" ? fmt::format("{:a}, {:a}", all.where, all.second) : fmt::format("{:a}", all.where);
  fmt::print("{:<9} worst {:.4f} ulp, at {}; {:.4f} % not correctly rounded; {:.0f} s{}\n", name, all.units, at,
             100.0 * static_cast<double>(all.inexact) / static_cast<double>(count * kPiece),
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
  const auto chosen = [&](std::string_view name) {
    return wanted.empty() || std::find(wanted.begin(), wanted.end(), name) != wanted.end();
  };
  bool good = true;
  for (size_t which = 0; which < functions.size(); ++which)
    if (chosen(functions[which].name))
      good &= retrace::check(functions[which].name, retrace::kPieces,
                             [&](int64_t piece) { return retrace::check_piece(static_cast<int>(which), piece); });
  if (chosen("pow")) good &= retrace::check("pow", retrace::kPowPieces, retrace::check_pow_piece);
  return good ? 0 : 1;
}
#endif
