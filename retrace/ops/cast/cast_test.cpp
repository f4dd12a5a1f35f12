#include "retrace/ops/cast/cast.h"

#include <gtest/gtest.h>

#include <bit>
#include <cmath>

#include "retrace/ops/testing/op_case.h"

namespace retrace {
namespace {

CaseFunction to(DType type) {
  return [type](const std::vector<Tensor>& in) { return std::vector<Tensor>{cast(in[0], type)}; };
}

OpCase exact(const char* op, const char* name, DType from, std::vector<double> values, DType type,
             std::vector<double> expected) {
  const auto count = static_cast<int64_t>(values.size());
  return {.op = op,
          .name = name,
          .inputs = {{.shape = {count}, .type = from, .values = std::move(values)}},
          .build = to(type),
          .expected = std::move(expected),
          .differentiable = false};
}

// A conversion from or to halves, whose gradient is rounded to them.
OpCase half(const char* op, const char* name, DType from, std::vector<double> values, DType type,
            std::vector<double> expected) {
  OpCase made = exact(op, name, from, std::move(values), type, std::move(expected));
  made.gradient_test = "StoredTypes.have_gradients_of_their_own_type";
  return made;
}

OP_EXAMPLE(cast, cast(Tensor::from<float>({-1.7, 0.2, 3.9}, {3}), DType::i32));

OP_CASES(cast) {
  const double infinity = __builtin_inf(), nan = __builtin_nan("");
  std::vector<OpCase> cases = {
      exact("cast", "f32_to_i32", DType::f32, {1.9, -1.9, -0.0, 3e9, -3e9, nan, infinity, -infinity}, DType::i32,
            {1, -1, 0, 2147483647.0, -2147483648.0, 0, 2147483647.0, -2147483648.0}),
      exact("cast", "f32_to_u8", DType::f32, {1.9, -1.9, 300, 255.5, nan}, DType::u8, {1, 0, 255, 255, 0}),
      exact("not_equal", "f32_to_bool", DType::f32, {0.0, -0.0, 0.25, nan, -1}, DType::boolean, {0, 0, 1, 1, 1}),
      exact("not_equal", "i32_to_bool", DType::i32, {0, 256, -1}, DType::boolean, {0, 1, 1}),
      exact("cast", "i32_to_f32", DType::i32, {0, 16777217, 16777219, -5}, DType::f32, {0, 16777216, 16777220, -5}),
      exact("cast", "i32_to_u8", DType::i32, {-1, 256, 257, 7}, DType::u8, {255, 0, 1, 7}),
      exact("cast", "bool_to_i32", DType::boolean, {0, 1}, DType::i32, {0, 1}),
      exact("cast", "u8_to_i32", DType::u8, {0, 255}, DType::i32, {0, 255}),
      exact("cast", "u8_to_f64", DType::u8, {0, 255}, DType::f64, {0, 255}),
      exact("widen", "bool_to_f32", DType::boolean, {0, 1}, DType::f32, {0, 1}),
      exact("widen", "u8_to_f32", DType::u8, {0, 255, 17}, DType::f32, {0, 255, 17}),
      exact("cast", "i64_to_i32", DType::i64, {0, 4294967297.0, -4294967297.0, -7}, DType::i32,
            {0, 2147483647.0, -2147483648.0, -7}),
      exact("cast", "i64_to_u8", DType::i64, {-1, 4294967297.0}, DType::u8, {255, 1}),
      exact("cast", "i64_to_f32", DType::i64, {16777217, -3, 0x1p62}, DType::f32, {16777216, -3, 0x1p62}),
      exact("cast", "f32_to_i64", DType::f32, {1.9, -1.9, 0x1p40, nan, -0x1p62}, DType::i64,
            {1, -1, 0x1p40, 0, -0x1p62}),
      exact("cast", "u8_to_i64", DType::u8, {0, 255}, DType::i64, {0, 255}),
      half("narrow_bf16", "ties_and_ends", DType::f32,
           {1 + 0x1p-8, 1 + 0x3p-8, 1 + 0x1p-8 + 0x1p-20, 0x1.fffffep127, 0x1.fep127, 0x1.fefffep127, -0x1.ffp127,
            0x1p-133, 0x1p-134, -0x1.8p-133, -0.0, 0.0, nan, infinity, -infinity, 3},
           DType::bf16,
           {1, 1 + 0x1p-6, 1 + 0x1p-7, infinity, 0x1.fep127, 0x1.fep127, -infinity, 0x1p-133, 0, -0x1p-132, -0.0, 0,
            nan, infinity, -infinity, 3}),
      half("narrow_f16", "ties_and_ends", DType::f32,
           {1 + 0x1p-11, 1 + 0x3p-11, 1 + 0x1p-11 + 0x1p-20, 65504, 65519.99, 65520, -65520, 0x1p-24, 0x1p-25, 0x3p-25,
            -0x1p-26, 0x1p-14 - 0x1p-25, 0x1p-14, 1e30, -0.0, nan, infinity, -infinity},
           DType::f16,
           {1, 1 + 0x1p-9, 1 + 0x1p-10, 65504, 65504, infinity, -infinity, 0x1p-24, 0, 0x1p-23, -0.0, 0x1p-14, 0x1p-14,
            infinity, -0.0, nan, infinity, -infinity}),
      exact("narrow_bf16", "i32_to_bf16", DType::i32, {0, 257, -1000000}, DType::bf16, {0, 256, -999424}),
      half("widen", "bf16_to_f32", DType::bf16, {0, -1.5, 0x1p-133, infinity}, DType::f32,
           {0, -1.5, 0x1p-133, infinity}),
      half("widen", "f16_to_f32", DType::f16, {0, -1.5, 0x1p-24, infinity}, DType::f32, {0, -1.5, 0x1p-24, infinity}),
      exact("widen", "f16_to_i32", DType::f16, {-1.75, 65504}, DType::i32, {-1, 65504}),
  };
  cases.push_back(cases.front());  // whole vectors of them
  cases.back().name = "f32_to_i32_long";
  cases.back().inputs[0].shape = {6, 8};
  cases.back().expected.clear();
  for (int i = 0; i < 6; ++i)
    cases.back().expected.insert(cases.back().expected.end(), cases.front().expected.begin(),
                                 cases.front().expected.end());
  cases.push_back({.op = "widen",
                   .name = "an_image",
                   .inputs = {{.shape = {2, 5, 7, 1}, .low = 0, .high = 256, .type = DType::u8, .labels = "BSSC"}},
                   .build = to(DType::f32),
                   .differentiable = false});
  cases.push_back({.op = "cast",
                   .name = "f32_to_f64_and_back",
                   .inputs = {{.shape = {3, 5}}},
                   .build =
                       [](const std::vector<Tensor>& in) {
                         const bool narrow = in[0].type() == DType::f32;
                         return std::vector<Tensor>{cast(cast(in[0], narrow ? DType::f64 : DType::f32), in[0].type())};
                       },
                   .gradient = {.ulp = 0.5}});
  // In f64 the numbers pass through f32, so differences would see steps: the gradient is exact and compared above.
  cases.back().differentiable = false;
  cases.push_back(
      {.op = "cast",
       .name = "gradient_passes",
       .inputs = {{.shape = {3, 5}}},
       .build = [](const std::vector<Tensor>& in) { return std::vector<Tensor>{cast(in[0], DType::f64)}; }});
  cases.back().inputs[0].type = DType::f32;
  return cases;
}

TEST(Cast, rounds_f64_to_nearest_even) {
  const auto y =
      cast(Tensor::from<double>({0x1.000001p0, 0x1.000003p0, 1e300, 0x1p-150}, {4}), DType::f32).to_vector<float>();
  EXPECT_EQ(y, (std::vector<float>{1.0f, 0x1.000004p0f, __builtin_inff(), 0.0f}));
}

// The number nearest to x whose last place is a multiple of 2^(its exponent - bits), or of 2^least: ties to even.
double nearest_half(double x, int bits, int least, double most) {
  if (x == 0 || !std::isfinite(x)) return x;
  const double unit = std::ldexp(1.0, std::max(std::ilogb(x) - bits, least));
  const double rounded = std::nearbyint(x / unit) * unit;
  return std::fabs(rounded) > most ? std::copysign(INFINITY, x) : std::copysign(rounded, x);
}

TEST(Cast, rounds_to_halves_as_they_are_defined) {
  std::vector<float> numbers;
  for (uint32_t i = 0; i < 1 << 20; ++i) numbers.push_back(std::bit_cast<float>(i * 4099u + (i << 27)));
  const Tensor x = Tensor::from(numbers, {1 << 20});
  const auto bf16 = cast(cast(x, DType::bf16), DType::f32).to_vector<float>();
  const auto f16 = cast(cast(x, DType::f16), DType::f32).to_vector<float>();
  int wrong = 0;
  const auto same = [](double a, double b) {
    return (std::isnan(a) && std::isnan(b)) || (a == b && std::signbit(a) == std::signbit(b));
  };
  for (size_t i = 0; i < numbers.size(); ++i) {
    const double exact = numbers[i];
    wrong += !same(bf16[i], nearest_half(exact, 7, -133, 0x1.fep127));
    wrong += !same(f16[i], nearest_half(exact, 10, -24, 65504));
    wrong += to_bf16(numbers[i]) != to_bf16(bf16[i]) || to_f16(numbers[i]) != to_f16(f16[i]);
  }
  EXPECT_EQ(wrong, 0);
}

TEST(Cast, all_halves_come_back) {
  std::vector<BFloat16> bf16;
  std::vector<Float16> f16;
  for (uint32_t bits = 0; bits < 1 << 16; ++bits) {
    bf16.push_back({static_cast<uint16_t>(bits)});
    f16.push_back({static_cast<uint16_t>(bits)});
  }
  const Tensor a = Tensor::from(bf16, {1 << 16}), b = Tensor::from(f16, {1 << 16});
  const auto numbers_a = cast(a, DType::f32).to_vector<float>(), numbers_b = cast(b, DType::f32).to_vector<float>();
  const auto again_a = cast(cast(a, DType::f32), DType::bf16).to_vector<BFloat16>();
  const auto again_b = cast(cast(b, DType::f32), DType::f16).to_vector<Float16>();
  int wrong = 0;
  for (uint32_t bits = 0; bits < 1 << 16; ++bits) {
    const int exponent = bits >> 10 & 31, point = bits & 1023;  // of f16, by its definition
    const double size = exponent == 0 ? point * 0x1p-24 : std::ldexp(1024 + point, exponent - 25);
    if (exponent < 31) wrong += static_cast<double>(numbers_b[bits]) != (bits >> 15 ? -size : size);
    wrong += std::bit_cast<uint32_t>(numbers_a[bits]) != bits << 16;
    wrong += !std::isnan(numbers_a[bits]) && again_a[bits].bits != bits;
    wrong += !std::isnan(numbers_b[bits]) && again_b[bits].bits != bits;
    wrong += std::isnan(numbers_a[bits]) && again_a[bits].bits != 0x7fc0;
    wrong += std::isnan(numbers_b[bits]) && again_b[bits].bits != 0x7e00;
  }
  EXPECT_EQ(wrong, 0);
}

TEST(Cast, of_the_same_type_records_nothing) {
  const auto x = Tensor::zeros({2});
  EXPECT_EQ(cast(x, DType::f32).value(), x.value());
}

TEST(Cast, ops_refuse_what_the_function_never_records) {
  EXPECT_EQ(infer_error("cast", {{"type", DType::boolean}}, {{DType::f32, {2}, {}, {}}}),
            "error[RT0142]: cast: f32 does not become bool by a conversion\n"
            "  where:    model.cpp:7\n"
            "  got:      x f32[2]\n"
            "  expected: bool\n"
            "  help:     not_equal(x, 0) says what is meant");
  EXPECT_EQ(infer_error("widen", {}, {{DType::i32, {2}, {}, {}}}),
            "error[RT0131]: widen: x is i32\n"
            "  where:    model.cpp:7\n"
            "  got:      x i32[2]\n"
            "  expected: bool, u8, bf16 or f16\n"
            "  help:     cast(x, DType::f32)");
}

}  // namespace
}  // namespace retrace
