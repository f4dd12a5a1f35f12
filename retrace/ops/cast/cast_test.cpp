#include "retrace/ops/cast/cast.h"

#include <gtest/gtest.h>

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
  };
  cases.back().no_gradient = "its argument is integer";
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
            "  expected: bool or u8\n"
            "  help:     cast(x, DType::f32)");
}

}  // namespace
}  // namespace retrace
