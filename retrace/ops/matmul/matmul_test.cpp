#include "retrace/ops/matmul/matmul.h"

#include <gtest/gtest.h>

#include <cmath>

#include "retrace/ops/abs/abs.h"
#include "retrace/ops/reshape/reshape.h"
#include "retrace/ops/testing/op_case.h"

namespace retrace {
namespace {

CaseFunction product(MatmulOptions options) {
  return [options](const std::vector<Tensor>& in) { return std::vector<Tensor>{matmul(in[0], in[1], options)}; };
}

OP_EXAMPLE(matmul, matmul(reshape(Tensor::arange(6), {2, 3}), Tensor::ones({2, 3}), {.transpose_b = true}));

OP_CASES(matmul) {
  struct Sizes {
    const char* name;
    Shape a, b;
    MatmulOptions options = {};
  };
  const std::vector<Sizes> all = {
      {"plain", {5, 7}, {7, 3}},
      {"transposed_a", {7, 5}, {7, 3}, {.transpose_a = true}},
      {"transposed_b", {5, 7}, {3, 7}, {.transpose_b = true}},
      {"both_transposed", {7, 5}, {3, 7}, {.transpose_a = true, .transpose_b = true}},
      {"two_blocks", {9, 300}, {300, 33}},
      {"one_by_one", {1, 1}, {1, 1}},
      {"column", {17, 4}, {4, 1}},
      {"no_rows", {0, 4}, {4, 3}},
      {"no_terms", {2, 0}, {0, 3}},
      {"stack", {3, 4, 5}, {3, 5, 2}},
      {"stack_of_transposed", {3, 5, 4}, {3, 2, 5}, {.transpose_a = true, .transpose_b = true}},
      {"shared_b", {3, 4, 5}, {5, 2}},
      {"shared_a", {4, 5}, {3, 5, 2}},
      {"shared_stack_of_one", {1, 4, 5}, {3, 2, 5}, {.transpose_b = true}},
      {"two_leading_axes", {2, 3, 4, 5}, {2, 3, 5, 2}},
      {"leading_axes_meet_a_matrix", {2, 3, 4, 5}, {2, 5}, {.transpose_b = true}},
      {"leading_axes_meet_a_stack", {5, 4}, {2, 1, 5, 3}, {.transpose_a = true}},
      {"leading_axes_stretch", {2, 1, 4, 5}, {1, 3, 5, 2}},
      {"a_stack_meets_leading_axes", {3, 4, 5}, {2, 3, 5, 2}},
      {"no_leading_axes", {2, 0, 4, 5}, {5, 2}}};
  std::vector<OpCase> cases;
  for (const auto& [name, a, b, options] : all) {
    const auto multiply = product(options);
    cases.push_back({.op = "matmul",
                     .name = name,
                     .inputs = {{.shape = a}, {.shape = b}},
                     .build = multiply,
                     .bound = {.ulp = 1, .relative = 260 * 0x1p-24, .tiny = true},
                     .magnitude = [multiply](const auto& in) { return multiply({abs(in[0]), abs(in[1])}); }});
  }
  // Sums of many blocks, and tiles of every size: on a CUDA device runs of blocks, in one launch or two.
  for (const auto& [name, a, b, options] :
       std::vector<Sizes>{{"deep", {3, 6272}, {6272, 10}},
                          {"deep_transposed", {6300, 33}, {40, 6300}, {.transpose_a = true, .transpose_b = true}},
                          {"deep_stack", {2, 5, 1000}, {1, 1000, 3}},
                          {"deepest", {3, 40000}, {40000, 2}},
                          {"large", {200, 4100}, {4100, 130}},
                          {"large_transposed", {4100, 200}, {130, 4100}, {.transpose_a = true, .transpose_b = true}}}) {
    const auto multiply = product(options);
    cases.push_back({.op = "matmul",
                     .name = name,
                     .inputs = {{.shape = a}, {.shape = b}},
                     .build = multiply,
                     .bound = {.ulp = 1, .relative = 270 * 0x1p-24, .tiny = true},
                     .differentiable = false,
                     .magnitude = [multiply](const auto& in) { return multiply({abs(in[0]), abs(in[1])}); }});
  }
  return cases;
}

Tensor all_ones(const Shape& shape, const std::string& labels = "") {
  return Tensor::full(1, shape, DType::f32, labels);
}

TEST(Matmul, multiplies) {
  const Tensor a = Tensor::from<float>({1, 2, 3, 4, 5, 6}, {2, 3}), b = Tensor::from<float>({1, 10, 100}, {3, 1});
  EXPECT_EQ(matmul(a, b).to_vector<float>(), (std::vector<float>{321, 654}));
  EXPECT_EQ(matmul(all_ones({2, 0}), all_ones({0, 2})).to_vector<float>(), std::vector<float>(4, 0));
}

TEST(Matmul, keeps_the_labels_of_an_upright_a) {
  const Tensor a = all_ones({2, 3}, "BC");
  EXPECT_EQ(matmul(a, all_ones({3, 4})).labels(), "BC");
  EXPECT_EQ(matmul(a, all_ones({2, 4}), {.transpose_a = true}).labels(), "");
  EXPECT_EQ(matmul(a, all_ones({3, 4}, "BC")).labels(), "");
}

TEST(Matmul, leading_axes_count_products) {
  const Tensor a = Tensor::arange(2 * 3 * 4 * 5), b = Tensor::arange(3 * 5 * 2);
  const Tensor y = matmul(reshape(a, {2, 3, 4, 5}, "BTSS"), reshape(b, {3, 5, 2}));
  EXPECT_EQ(y.labels(), "BTSS");
  const auto all = y.to_vector<float>();
  for (int64_t n = 0; n < 2; ++n)
    for (int64_t m = 0; m < 3; ++m) {
      const Tensor one = matmul(reshape(a, {2, 3, 4, 5})[n][m], reshape(b, {3, 5, 2})[m]);
      EXPECT_EQ(one.to_vector<float>(),
                std::vector<float>(all.begin() + (n * 3 + m) * 8, all.begin() + (n * 3 + m + 1) * 8));
    }
}

TEST(Matmul, says_what_does_not_fit) {
  const Place place{"train.cpp", 3};
  EXPECT_EQ(error_text([&] { matmul(all_ones({2, 4, 3, 3}), all_ones({4, 2, 3}), {.transpose_b = false}, place); }),
            "error[RT0160]: matmul: a has 3 columns, b has 2 rows\n"
            "  where:    train.cpp:3\n"
            "  got:      a f32[2,4,3,3], b f32[4,2,3]\n"
            "  expected: columns of a = rows of b");
  EXPECT_EQ(error_text([&] { matmul(all_ones({2, 4, 3, 3}), all_ones({5, 3, 3}), {}, place); }),
            "error[RT0160]: matmul: 4 matrices meet 5\n"
            "  where:    train.cpp:3\n"
            "  got:      a f32[2,4,3,3], b f32[5,3,3]\n"
            "  expected: equal leading axes, or 1");
  EXPECT_EQ(error_text([&] { matmul(all_ones({2, 3}), all_ones({2, 3}), {.transpose_a = false}, place); }),
            "error[RT0160]: matmul: a has 3 columns, b has 2 rows\n"
            "  where:    train.cpp:3\n"
            "  got:      a f32[2,3], b f32[2,3]\n"
            "  expected: columns of a = rows of b");
  EXPECT_EQ(error_text(
                [&] { matmul(all_ones({2, 3}), all_ones({2, 3}), {.transpose_a = true, .transpose_b = true}, place); }),
            "error[RT0160]: matmul: a has 2 columns, b has 3 rows\n"
            "  where:    train.cpp:3\n"
            "  got:      a f32[2,3] (transposed), b f32[2,3] (transposed)\n"
            "  expected: columns of a = rows of b");
  EXPECT_EQ(error_text([&] { matmul(all_ones({3}), all_ones({3, 3}), {}, place); }),
            "error[RT0160]: matmul: a has 1 axes, b has 2\n"
            "  where:    train.cpp:3\n"
            "  got:      a f32[3], b f32[3,3]\n"
            "  expected: two matrices, or stacks of them");
  EXPECT_EQ(error_text([&] { matmul(all_ones({2, 3, 3}), all_ones({4, 3, 3}), {}, place); }),
            "error[RT0160]: matmul: 2 matrices meet 4\n"
            "  where:    train.cpp:3\n"
            "  got:      a f32[2,3,3], b f32[4,3,3]\n"
            "  expected: equal first axes, or 1");
  EXPECT_EQ(error_text([&] { matmul(Tensor::zeros({2, 3}, DType::i32), all_ones({3, 3}), {}, place); }),
            "error[RT0131]: matmul: a is i32\n"
            "  where:    train.cpp:3\n"
            "  got:      a i32[2,3]\n"
            "  expected: f32 or f64\n"
            "  help:     cast(a, DType::f32)");
}

TEST(Matmul, refuses_two_types) {
  EXPECT_EQ(error_text([&] { matmul(all_ones({2, 3}), Tensor::zeros({3, 3}, DType::f64), {}, {"model.cpp", 7}); }),
            "error[RT0132]: matmul: the arguments have the types f32 and f64\n"
            "  where:    model.cpp:7\n"
            "  got:      f32[2,3] and b f64[3,3]\n"
            "  expected: one type\n"
            "  help:     cast(b, DType::f32)");
}

}  // namespace
}  // namespace retrace
