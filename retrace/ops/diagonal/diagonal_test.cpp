#include "retrace/ops/diagonal/diagonal.h"

#include <gtest/gtest.h>

#include "retrace/ops/testing/op_case.h"

namespace retrace {
namespace {

OpCase matrices(const char* op, const char* name, Shape shape, CaseFunction build) {
  return {.op = op, .name = name, .inputs = {{.shape = shape}}, .build = std::move(build)};
}

OP_EXAMPLE(tril, tril(Tensor::ones({3, 3})));
OP_EXAMPLE(triu, triu(Tensor::ones({3, 3}), 1));
OP_EXAMPLE(diagonal, diagonal(reshape(Tensor::arange(9), {3, 3})));
OP_EXAMPLE(diag_embed, diag_embed(Tensor::from<float>({1, 2}, {2})));

OP_CASES(diagonal) {
  return {
      matrices("where", "of_tril", {3, 5, 7}, [](const auto& in) { return std::vector{tril(in[0])}; }),
      matrices("where", "of_tril_above", {7, 5}, [](const auto& in) { return std::vector{tril(in[0], 2)}; }),
      matrices("where", "of_triu_below", {2, 7, 5}, [](const auto& in) { return std::vector{triu(in[0], -2)}; }),
      matrices("slice", "of_diagonal", {3, 5, 7}, [](const auto& in) { return std::vector{diagonal(in[0])}; }),
      matrices("slice", "of_diagonal_above", {5, 7}, [](const auto& in) { return std::vector{diagonal(in[0], 3)}; }),
      matrices("slice", "of_diagonal_below", {7, 5}, [](const auto& in) { return std::vector{diagonal(in[0], -3)}; }),
      matrices("pad", "of_diag_embed", {3, 5}, [](const auto& in) { return std::vector{diag_embed(in[0])}; }),
      matrices("pad", "of_diag_embed_below", {5}, [](const auto& in) { return std::vector{diag_embed(in[0], -2)}; }),
      matrices("pad", "of_diag_embed_above", {2, 5}, [](const auto& in) { return std::vector{diag_embed(in[0], 1)}; }),
  };
}

std::vector<int32_t> whole_of(const Tensor& x) { return x.to_vector<int32_t>(); }

TEST(Tril, KeepsWhatIsNotAboveTheDiagonal) {
  const auto x = Tensor::from<int32_t>({1, 2, 3, 4, 5, 6}, {2, 3});
  EXPECT_EQ(whole_of(tril(x)), (std::vector<int32_t>{1, 0, 0, 4, 5, 0}));
  EXPECT_EQ(whole_of(tril(x, 1)), (std::vector<int32_t>{1, 2, 0, 4, 5, 6}));
  EXPECT_EQ(whole_of(tril(x, -1)), (std::vector<int32_t>{0, 0, 0, 4, 0, 0}));
  EXPECT_EQ(whole_of(tril(x, INT64_MIN)), std::vector<int32_t>(6, 0));
  EXPECT_EQ(whole_of(tril(x, INT64_MAX)), whole_of(x));
  EXPECT_EQ(whole_of(triu(x)), (std::vector<int32_t>{1, 2, 3, 0, 5, 6}));
  EXPECT_EQ(whole_of(triu(x, 2)), (std::vector<int32_t>{0, 0, 3, 0, 0, 0}));
  EXPECT_EQ(whole_of(triu(x, INT64_MIN)), whole_of(x));
  EXPECT_EQ(whole_of(triu(x, INT64_MAX)), std::vector<int32_t>(6, 0));
  EXPECT_EQ(tril(Tensor::from<float>({1, __builtin_nanf(""), 3, 4}, {2, 2})).to_vector<float>(),
            (std::vector<float>{1, 0, 3, 4}));
  EXPECT_EQ(triu(Tensor::full(true, {2, 2}, DType::boolean)).to_vector<uint8_t>(), (std::vector<uint8_t>{1, 1, 0, 1}));
  EXPECT_EQ(tril(Tensor::zeros({0, 3})).spec().text(), "f32[0,3]");
  EXPECT_EQ(tril(Tensor::zeros({4, 2, 2, 3}, DType::f32, "BSSC")).spec().text(), "f32[4,2,2,3] \"BSSC\"");
}

TEST(Diagonal, TakesTheElementsOfADiagonal) {
  const auto x = Tensor::from<int32_t>({1, 2, 3, 4, 5, 6}, {2, 3});
  EXPECT_EQ(whole_of(diagonal(x)), (std::vector<int32_t>{1, 5}));
  EXPECT_EQ(whole_of(diagonal(x, 1)), (std::vector<int32_t>{2, 6}));
  EXPECT_EQ(whole_of(diagonal(x, 2)), (std::vector<int32_t>{3}));
  EXPECT_EQ(whole_of(diagonal(x, -1)), (std::vector<int32_t>{4}));
  EXPECT_EQ(diagonal(x, 3).spec().text(), "i32[0]");
  EXPECT_EQ(diagonal(x, INT64_MIN).spec().text(), "i32[0]");
  EXPECT_EQ(diagonal(Tensor::zeros({4, 2, 2, 3}, DType::f32, "BSSC")).spec().text(), "f32[4,2,2] \"BSS\"");
  EXPECT_EQ(diagonal(Tensor::zeros({2, 0})).spec().text(), "f32[0]");
}

TEST(DiagEmbed, IsTheReverse) {
  const auto x = Tensor::from<int32_t>({1, 2}, {2});
  EXPECT_EQ(whole_of(diag_embed(x)), (std::vector<int32_t>{1, 0, 0, 2}));
  EXPECT_EQ(whole_of(diag_embed(x, 1)), (std::vector<int32_t>{0, 1, 0, 0, 0, 2, 0, 0, 0}));
  EXPECT_EQ(whole_of(diag_embed(x, -1)), (std::vector<int32_t>{0, 0, 0, 1, 0, 0, 0, 2, 0}));
  EXPECT_EQ(diag_embed(Tensor::zeros({3, 0})).spec().text(), "f32[3,0,0]");
  EXPECT_EQ(diag_embed(Tensor::zeros({0}), 2).spec().text(), "f32[2,2]");
  EXPECT_EQ(diag_embed(Tensor::zeros({3, 2}, DType::f32, "BC")).spec().text(), "f32[3,2,2] \"BCU\"");
  for (const int64_t offset : {-3, 0, 2}) EXPECT_EQ(whole_of(diagonal(diag_embed(x, offset), offset)), whole_of(x));
}

TEST(Diagonal, SaysWhatDoesNotFit) {
  EXPECT_EQ(error_text([] { tril(Tensor::zeros({3}), 0, {"model.cpp", 7}); }),
            "error[RT0133]: tril: x has 1 axes\n"
            "  where:    model.cpp:7\n"
            "  got:      x f32[3]\n"
            "  expected: 2 axes or more: the last two are a matrix");
  EXPECT_NE(error_text([] { diagonal(Tensor::zeros({3})); }).find("diagonal: x has 1 axes"), std::string::npos);
  EXPECT_NE(error_text([] { diag_embed(Tensor::zeros({})); }).find("diag_embed: x has 0 axes"), std::string::npos);
  EXPECT_NE(error_text([] { diag_embed(Tensor::zeros({2}), INT64_MAX); }).find("too many elements"), std::string::npos);
}

}  // namespace
}  // namespace retrace
