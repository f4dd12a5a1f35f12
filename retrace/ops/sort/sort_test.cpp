#include "retrace/ops/sort/sort.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <numeric>

#include "retrace/base/hash.h"
#include "retrace/ops/argmax/argmax.h"
#include "retrace/ops/max/max.h"
#include "retrace/ops/testing/op_case.h"
#include "tests/tested_targets.h"

namespace retrace {
namespace {

constexpr double kNan = __builtin_nan("");

// Different numbers, so that a small step of one changes no order.
CaseInput distinct(Shape shape) {
  CaseInput input{.shape = shape};
  for (int i = 0; i < 1009; ++i) input.values.push_back((i * 397 % 1009 - 500) * 0.125);
  return input;
}

OpCase both(const char* name, CaseInput input, std::function<Sorted(const Tensor&)> f) {
  return {.op = "argsort", .name = name, .inputs = {std::move(input)}, .build = [=](const auto& in) {
            const Sorted sorted = f(in[0]);
            return std::vector{sorted.values, sorted.indices};
          }};
}

OpCase order(const char* name, DType type, std::vector<double> values, std::function<Tensor(const Tensor&)> f,
             std::vector<double> expected) {
  return {.op = "argsort",
          .name = name,
          .inputs = {{.shape = {static_cast<int64_t>(values.size())}, .type = type, .values = values}},
          .build = [=](const auto& in) { return std::vector{f(in[0])}; },
          .expected = expected,
          .differentiable = false,
          .no_gradient = "an index is a step"};
}

OP_EXAMPLE(sort, sort(Tensor::from<float>({3, 1, 2}, {3})).values);
OP_EXAMPLE(argsort, argsort(Tensor::from<float>({3, 1, 2}, {3}), 0, {.descending = true}));
OP_EXAMPLE(top_k, top_k(Tensor::from<float>({3, 1, 2}, {3}), 2).indices);

OP_CASES(sort) {
  const auto ascending = [](const Tensor& x) { return argsort(x); };
  const auto descending = [](const Tensor& x) { return argsort(x, -1, {.descending = true}); };
  const auto largest = [](int64_t k) { return [k](const Tensor& x) { return top_k(x, k).indices; }; };
  const double infinity = __builtin_inf();
  const std::vector<double> ties{2, kNan, -0.0, 2, 0.0, -infinity, kNan, infinity, 2};
  std::vector<OpCase> cases{
      both("row", distinct({5, 37}), [](const Tensor& x) { return sort(x); }),
      both("column", distinct({37, 5}), [](const Tensor& x) { return sort(x, 0, {.descending = true}); }),
      both("middle", distinct({3, 13, 4}), [](const Tensor& x) { return sort(x, 1); }),
      both("top_of_row", distinct({5, 37}), [](const Tensor& x) { return top_k(x, 4); }),
      both("top_of_middle", distinct({3, 13, 4}), [](const Tensor& x) { return top_k(x, 3, 1); }),
      both("top_of_all", distinct({7}), [](const Tensor& x) { return top_k(x, 7); }),
      both("top_of_none", distinct({3, 4}), [](const Tensor& x) { return top_k(x, 0); }),
      both("empty", distinct({3, 0}), [](const Tensor& x) { return sort(x); }),
      both("no_rows", distinct({0, 3}), [](const Tensor& x) { return top_k(x, 2); }),
      both("many", distinct({1009, 19}), [](const Tensor& x) { return sort(x); }),
      order("ties", DType::f32, ties, ascending, {5, 2, 4, 0, 3, 8, 7, 1, 6}),
      order("ties_descending", DType::f32, ties, descending, {7, 0, 3, 8, 2, 4, 5, 1, 6}),
      order("top_of_ties", DType::f32, ties, largest(5), {1, 6, 7, 0, 3}),
      order("of_integers", DType::i32, {5, -3, 0x7fffffff, -0x80000000ll, 5}, ascending, {3, 1, 0, 4, 2}),
      order("of_integers_descending", DType::i32, {5, -3, 0x7fffffff, -0x80000000ll, 5}, descending, {2, 0, 4, 1, 3}),
      order("of_bytes", DType::u8, {7, 255, 0, 7}, descending, {1, 0, 3, 2}),
      order("of_bools", DType::boolean, {1, 0, 1, 0}, ascending, {1, 3, 0, 2}),
      order("top_of_bytes", DType::u8, {7, 255, 0, 7}, largest(2), {1, 0}),
  };
  OpCase long_row = both("long_row", {.shape = {2, 2003}}, [](const Tensor& x) { return sort(x, 1); });
  long_row.differentiable = false;
  cases.push_back(long_row);
  cases.push_back(both("labelled", distinct({2, 3, 3, 5}), [](const Tensor& x) { return top_k(x, 2, "C"); }));
  cases.back().inputs[0].labels = "BSSC";
  return cases;
}

TEST(Sort, GivesValuesAndIndices) {
  const auto x = Tensor::from<double>({3, kNan, 1, 2}, {4});
  const auto sorted = sort(x, 0, {.descending = true});
  EXPECT_EQ(sorted.indices.to_vector<int32_t>(), (std::vector<int32_t>{0, 3, 2, 1}));
  EXPECT_EQ(sorted.values.to_vector<double>()[1], 2);
  EXPECT_EQ(top_k(x, 1).indices.to_vector<int32_t>(), std::vector<int32_t>{1});
  EXPECT_EQ(sort(Tensor::zeros({2, 3}, DType::f32, "BC"), "B").values.spec().text(), "f32[2,3] \"BC\"");
}

TEST(TopK, BeginsWithTheMaximum) {
  const auto x = Tensor::from<float>({1, 4, 4, -1, -2, -1}, {2, 3});
  const auto top = top_k(x, 1, 1);
  EXPECT_EQ(top.values.to_vector<float>(), max(x, 1).to_vector<float>());
  EXPECT_EQ(top.indices.to_vector<int32_t>(), argmax(x, 1).to_vector<int32_t>());
}

// The k largest of x[first ... last], NaN before all, of equal ones the first.
std::vector<int32_t> largest(const std::vector<float>& x, int64_t first, int64_t last, int64_t k) {
  std::vector<int32_t> order(static_cast<size_t>(last - first));
  std::iota(order.begin(), order.end(), 0);
  const auto at = [&](int32_t i) { return x[static_cast<size_t>(first + i)]; };
  std::stable_sort(order.begin(), order.end(), [&](int32_t a, int32_t b) {
    return std::isnan(at(a)) != std::isnan(at(b)) ? std::isnan(at(a)) : at(a) > at(b);
  });
  order.resize(static_cast<size_t>(k));
  return order;
}

// Long rows, of which most numbers are passed over, with ties, zeros of both signs, infinities and NaN.
TEST(TopK, EveryTargetFindsTheLargest) {
  const auto before = simd_target();
  constexpr int64_t rows = 5;
  for (const auto target : tested_targets()) {
    set_simd_target(name_of(target));
    for (const int64_t columns : {17, 63, 64, 100, 1000, 1003})
      for (const int64_t k : {1, 5, 16})
        for (const int nan_every : {0, 7, 401}) {
          SCOPED_TRACE(fmt::format("{} rows of {}, k {}, NaN {}", name_of(target), columns, k, nan_every));
          std::vector<float> x;
          for (int64_t i = 0; i < rows * columns; ++i) {
            const auto hash = mix64(static_cast<uint64_t>(i + 1));
            const auto number = static_cast<float>(hash % 2001) - 1000;
            x.push_back(hash % 97 == 0 ? -INFINITY : number == 0 && hash % 2 == 0 ? -0.0f : number);
            if (nan_every > 0 && hash % static_cast<uint64_t>(nan_every) == 0) x.back() = NAN;
          }
          const auto found = top_k(Tensor::from(x, {rows, columns}), k, 1).indices.to_vector<int32_t>();
          for (int64_t row = 0; row < rows; ++row)
            EXPECT_EQ(std::vector(found.begin() + row * k, found.begin() + (row + 1) * k),
                      largest(x, row * columns, (row + 1) * columns, k));
        }
  }
  set_simd_target(name_of(before));
}

TEST(Sort, SaysWhatDoesNotFit) {
  const Tensor x = Tensor::zeros({2, 3});
  EXPECT_EQ(error_text([&] { top_k(x, 4, 1, {"model.cpp", 7}); }),
            "error[RT0247]: top_k: 4 elements are asked of axis 1, which has 3\n"
            "  where:    model.cpp:7\n"
            "  got:      x f32[2,3]\n"
            "  expected: 0 to 3");
  EXPECT_NE(error_text([&] { top_k(x, -1); }).find("-1 elements are asked"), std::string::npos);
  EXPECT_NE(error_text([&] { sort(x, 2); }).find("sort: axis 2 does not exist"), std::string::npos);
  EXPECT_NE(error_text([] { argsort(Tensor::zeros({})); }).find("argsort: axis -1 does not exist"), std::string::npos);
  const Attributes all{
      {"axis", int64_t{0}}, {"count", int64_t{1}}, {"descending", int64_t{0}}, {"nan_first", int64_t{0}}};
  EXPECT_NE(infer_error("argsort", all, {{DType::u8, {int64_t{1} << 31}, {}, {}}}).find("too many to number"),
            std::string::npos);
}

}  // namespace
}  // namespace retrace
