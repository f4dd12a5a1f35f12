#include "retrace/ops/max/max.h"

#include <gtest/gtest.h>

#include <bit>
#include <cmath>

#include "retrace/base/hash.h"
#include "retrace/ops/max/find_maximum.h"
#include "retrace/ops/testing/reduce_cases.h"
#include "tests/tested_targets.h"

namespace retrace {
namespace {

constexpr double kNan = __builtin_nan(""), kInfinity = __builtin_inf();

std::vector<Tensor> maxima(const Tensor& x, const Reduced& how) { return {max(x, how.axes, {.keep = how.keep})}; }
std::vector<Tensor> masks(const Tensor& x, const Reduced& how) {
  return {first_maximum(x, how.axes, {.keep = how.keep})};
}

OpCase by_hand(const char* op, const char* name, DType type, Shape shape, std::vector<double> values,
               std::vector<double> expected) {
  const bool mask = std::string(op) == "first_maximum";
  return {.op = op,
          .name = name,
          .inputs = {{.shape = shape, .type = type, .values = values}},
          .build = [mask](const std::vector<Tensor>& in) { return (mask ? masks : maxima)(in[0], {.axes = {-1}}); },
          .expected = expected,
          .differentiable = false};
}

std::vector<Tensor> minima(const Tensor& x, const Reduced& how) { return {min(x, how.axes, {.keep = how.keep})}; }

// Of two rows.
OpCase min_by_hand(std::string name, DType type, std::vector<double> values, std::vector<double> expected) {
  const auto columns = static_cast<int64_t>(values.size()) / 2;
  return {.op = "max",
          .name = "min_" + name,
          .inputs = {{.shape = {2, columns}, .type = type, .values = values}},
          .build = [](const std::vector<Tensor>& in) { return minima(in[0], {.axes = {-1}}); },
          .expected = expected,
          .differentiable = false};
}

OP_EXAMPLE(max, max(Tensor::from<float>({1, 5, 2, 7, 0, 3}, {2, 3}), 1));
OP_EXAMPLE(min, min(Tensor::from<float>({1, 5, 2, 7, 0, 3}, {2, 3}), 1));
OP_EXAMPLE(first_maximum, first_maximum(Tensor::from<float>({1, 5, 5, 7, 0, 3}, {2, 3}), 1));

OP_CASES(max) {
  auto cases = reduction_cases({.op = "max", .inputs = {{}}}, maxima, {.distinct = true, .empty = false});
  cases.push_back(by_hand("max", "first_of_equal_zeros", DType::f32, {2, 2}, {-0.0, 0.0, 0.0, -0.0}, {-0.0, 0.0}));
  cases.push_back(
      by_hand("max", "a_nan_wins", DType::f32, {2, 3}, {1, kNan, kInfinity, -kInfinity, -3, -2}, {kNan, -2}));
  cases.push_back(by_hand("max", "integers", DType::i32, {2, 2}, {3, -7, -2147483648.0, -5}, {3, -5}));
  cases.push_back(by_hand("max", "truths", DType::boolean, {2, 2}, {0, 1, 0, 0}, {1, 0}));
  auto smallest = reduction_cases({.op = "max", .inputs = {{}}}, minima, {.distinct = true, .empty = false});
  for (auto& one : smallest) one.name = "min_" + one.name, cases.push_back(one);
  cases.push_back(min_by_hand("first_of_equal_zeros", DType::f32, {-0.0, 0.0, 0.0, -0.0}, {-0.0, 0.0}));
  cases.push_back(min_by_hand("a_nan_wins", DType::f32, {1, kNan, -kInfinity, kInfinity, -3, -2}, {kNan, -3}));
  cases.push_back(min_by_hand("integers", DType::i32, {3, -2147483648.0, 2147483647.0, 5}, {-2147483648.0, 5}));
  cases.push_back(min_by_hand("bytes", DType::u8, {3, 0, 255, 5}, {0, 5}));
  cases.push_back(min_by_hand("truths", DType::boolean, {0, 1, 1, 1}, {0, 1}));
  auto mask = reduction_cases(
      {.op = "first_maximum", .inputs = {{}}, .differentiable = false, .no_gradient = "a choice is a step"}, masks,
      {.distinct = true, .empty = false});
  cases.insert(cases.end(), mask.begin(), mask.end());
  cases.push_back(by_hand("first_maximum", "the_first_of_equals", DType::f32, {2, 4}, {1, 3, 3, 2, kNan, 5, kNan, 0},
                          {0, 1, 0, 0, 1, 0, 0, 0}));
  return cases;
}

// The definition, one element after the other.
int32_t first_of(const std::vector<float>& x) {
  size_t best = 0;
  for (size_t i = 1; i < x.size(); ++i)
    if (x[i] > x[best] || (std::isnan(x[i]) && !std::isnan(x[best]))) best = i;
  return static_cast<int32_t>(best);
}

// Few different values, so that there are many ties, and some NaN.
std::vector<float> values_with_ties(int64_t count, uint64_t seed, bool with_nan) {
  std::vector<float> x;
  for (int64_t i = 0; i < count; ++i) {
    const uint64_t draw = mix64(hash_combine(seed, static_cast<uint64_t>(i)));
    x.push_back(with_nan && draw % 37 == 0 ? __builtin_nanf("") : draw % 5 == 0 ? -0.0f : static_cast<float>(draw % 4));
  }
  return x;
}

// The places of the first maxima along one axis; the mask says the same.
std::vector<int32_t> checked_maxima(const KernelInput& x, int64_t axis) {
  const Shape& shape = x.spec->shape;
  std::vector<int32_t> found(static_cast<size_t>(shape.count() / shape[static_cast<int>(axis)]));
  find_maxima(x, {axis}, found.data());
  std::vector<uint8_t> mask(static_cast<size_t>(shape.count()), 9), expected(mask.size(), 0);
  for (size_t i = 0; i < found.size(); ++i)
    expected[axis == 0 ? static_cast<size_t>(found[i]) * found.size() + i
                       : i * static_cast<size_t>(shape[1]) + static_cast<size_t>(found[i])] = 1;
  mark_maxima(x, {axis}, mask.data());
  EXPECT_EQ(mask, expected) << name_of(simd_target()) << x.spec->text() << axis;
  return found;
}

// The bits of the first maxima along one of two axes, as write_maxima() and as the search find them.
void expect_bits_of_the_first(const std::vector<float>& x, const TensorSpec& spec, int64_t axis) {
  const KernelInput input{x.data(), &spec};
  const auto found = checked_maxima(input, axis);
  std::vector<float> written(found.size());
  ASSERT_TRUE(write_maxima(input, {axis}, written.data()));
  const int64_t columns = spec.shape[1];
  for (size_t i = 0; i < found.size(); ++i) {
    const int64_t at =
        axis == 0 ? found[i] * columns + static_cast<int64_t>(i) : static_cast<int64_t>(i) * columns + found[i];
    ASSERT_EQ(std::bit_cast<uint32_t>(written[i]), std::bit_cast<uint32_t>(x[static_cast<size_t>(at)]))
        << name_of(simd_target()) << spec.text() << i;
  }
}

TEST(Max, EveryTargetWritesTheFirst) {
  const auto before = simd_target();
  for (const auto target : tested_targets()) {
    set_simd_target(name_of(target));
    for (int64_t rows : {1, 2, 16, 17, 333})
      for (int64_t columns : {1, 3, 16, 21, 70, 130, 40000})
        for (bool with_nan : {false, true}) {
          if (rows * columns > 250'000) continue;
          auto x = values_with_ties(rows * columns, static_cast<uint64_t>(rows * 1000 + columns), with_nan);
          const TensorSpec spec{DType::f32, {rows, columns}, {}, {}};
          for (int round = 0; round < 2; ++round) {
            for (const int64_t axis : {0, 1}) expect_bits_of_the_first(x, spec, axis);
            for (float& each : x) each = -each;  // zeros of both signs are the largest
          }
        }
  }
  set_simd_target(name_of(before));
}

TEST(Max, EveryTargetFindsTheFirst) {
  const auto before = simd_target();
  for (const auto target : tested_targets()) {
    set_simd_target(name_of(target));
    for (int64_t rows : {1, 2, 15, 16, 17, 40, 333, 3000})
      for (int64_t columns : {1, 3, 16, 21, 33, 70, 130, 40000})
        for (bool with_nan : {false, true}) {
          if (rows * columns > 250'000) continue;
          const auto x = values_with_ties(rows * columns, static_cast<uint64_t>(rows * 1000 + columns), with_nan);
          const TensorSpec spec{DType::f32, {rows, columns}, {}, {}};
          const auto by_column = checked_maxima({x.data(), &spec}, 0), by_row = checked_maxima({x.data(), &spec}, 1);
          for (int64_t c = 0; c < columns; ++c) {
            std::vector<float> column;
            for (int64_t r = 0; r < rows; ++r) column.push_back(x[static_cast<size_t>(r * columns + c)]);
            ASSERT_EQ(by_column[static_cast<size_t>(c)], first_of(column)) << name_of(target) << spec.text() << c;
          }
          for (int64_t r = 0; r < rows; ++r) {
            const std::vector<float> row(x.begin() + r * columns, x.begin() + (r + 1) * columns);
            ASSERT_EQ(by_row[static_cast<size_t>(r)], first_of(row)) << name_of(target) << spec.text() << r;
          }
        }
  }
  set_simd_target(name_of(before));
}

TEST(Max, SaysWhatDoesNotFit) {
  EXPECT_EQ(error_text([&] { max(Tensor::zeros({3, 0}), 1, {}, {"model.cpp", 7}); }),
            "error[RT0138]: max: there is no largest of no elements\n"
            "  where:    model.cpp:7\n"
            "  got:      f32[3,0]\n"
            "  expected: at least one element along the reduced axes");
  EXPECT_EQ(infer_error("max", {{"axes", Shape{0}}, {"keep", int64_t{0}}}, {{DType::u8, {int64_t{1} << 31}, {}, {}}}),
            "error[RT0144]: max: 2147483648 elements are too many to number\n"
            "  where:    model.cpp:7\n"
            "  got:      u8[2147483648]\n"
            "  expected: fewer than 2^31");
  expect_axes_are_checked("max");
}

TEST(FirstMaximum, SaysWhatDoesNotFit) {
  EXPECT_EQ(error_text([&] { first_maximum(Tensor::zeros({3, 0}), 1, {}, {"model.cpp", 7}); }),
            "error[RT0138]: first_maximum: there is no largest of no elements\n"
            "  where:    model.cpp:7\n"
            "  got:      f32[3,0]\n"
            "  expected: at least one element along the reduced axes");
  EXPECT_EQ(infer_error("first_maximum", {{"axes", Shape{0}}, {"keep", int64_t{0}}},
                        {{DType::u8, {int64_t{1} << 31}, {}, {}}}),
            "error[RT0144]: first_maximum: 2147483648 elements are too many to number\n"
            "  where:    model.cpp:7\n"
            "  got:      u8[2147483648]\n"
            "  expected: fewer than 2^31");
  expect_axes_are_checked("first_maximum");
}

}  // namespace
}  // namespace retrace
