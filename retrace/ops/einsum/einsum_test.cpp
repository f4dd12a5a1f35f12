#include "retrace/ops/einsum/einsum.h"

#include <gtest/gtest.h>

#include "retrace/ops/abs/abs.h"
#include "retrace/ops/matmul/matmul.h"
#include "retrace/ops/testing/op_case.h"

namespace retrace {
namespace {

OP_EXAMPLE(einsum, einsum("ij,jk->ik", {reshape(Tensor::arange(6), {2, 3}), Tensor::ones({3, 2})}));

OP_CASES(einsum) {
  struct Sum {
    const char *name, *equation;
    std::vector<Shape> shapes;
  };
  const std::vector<Sum> all = {{"of_einsum_product", "ij,jk->ik", {{3, 5}, {5, 4}}},
                                {"of_einsum_stack", "bij,bjk->bik", {{2, 3, 5}, {2, 5, 4}}},
                                {"of_einsum_turned", "ji,kj->ki", {{5, 3}, {4, 5}}},
                                {"of_einsum_heads", "bthd,bshd->bhts", {{2, 3, 2, 4}, {2, 5, 2, 4}}},
                                {"of_einsum_bilinear", "bi,oij,bj->bo", {{3, 2}, {4, 2, 5}, {3, 5}}},
                                {"of_einsum_two_contracted", "abc,bcd->ad", {{2, 3, 4}, {3, 4, 5}}},
                                {"of_einsum_inner", "i,i->", {{6}, {6}}}};
  std::vector<OpCase> cases;
  for (const auto& [name, equation, shapes] : all) {
    const CaseFunction forward = [equation = equation](const auto& in) { return std::vector{einsum(equation, in)}; };
    std::vector<CaseInput> inputs;
    for (const Shape& shape : shapes) inputs.push_back({.shape = shape});
    cases.push_back({.op = "matmul",
                     .name = name,
                     .inputs = inputs,
                     .build = forward,
                     .bound = {.ulp = 1, .relative = 260 * 0x1p-24, .tiny = true},
                     .magnitude = [forward](std::vector<Tensor> in) {
                       for (Tensor& x : in) x = abs(x);
                       return forward(in);
                     }});
  }
  return cases;
}

using Floats = std::vector<float>;

TEST(Einsum, SumsWhatTheResultHasNot) {
  const Tensor x = Tensor::from<float>({1, 2, 3, 4, 5, 6}, {2, 3}, "BC"), y = Tensor::from<float>({1, 10, 100}, {3});
  EXPECT_EQ(einsum("ij->ji", {x}).to_vector<float>(), (Floats{1, 4, 2, 5, 3, 6}));
  EXPECT_EQ(einsum("ij->j", {x}).to_vector<float>(), (Floats{5, 7, 9}));
  EXPECT_EQ(einsum("ij->", {x}).to_vector<float>(), (Floats{21}));
  EXPECT_EQ(einsum("ij, j -> i", {x, y}).to_vector<float>(), (Floats{321, 654}));
  EXPECT_EQ(einsum("ij,j", {x, y}).to_vector<float>(), (Floats{321, 654}));
  EXPECT_EQ(einsum("i,j->ji", {y, Tensor::from<float>({1, 2}, {2})}).to_vector<float>(),
            (Floats{1, 10, 100, 2, 20, 200}));
  EXPECT_EQ(einsum("ij,ij->ij", {x, x}).to_vector<float>(), (Floats{1, 4, 9, 16, 25, 36}));
  EXPECT_EQ(einsum("ij,k->k", {x, Tensor::from<float>({2}, {1})}).to_vector<float>(), (Floats{42}));
  EXPECT_EQ(einsum("ba", {x}).shape(), (Shape{3, 2}));
}

TEST(Einsum, AProductIsThatOfMatmul) {
  const Tensor a = Tensor::from<float>({1, 2, 3, 4, 5, 6}, {2, 3});
  EXPECT_EQ(einsum("ij,kj->ik", {a, a}).to_vector<float>(), matmul(a, a, {.transpose_b = true}).to_vector<float>());
}

TEST(Einsum, SaysWhatDoesNotFit) {
  const Tensor x = Tensor::zeros({2, 3});
  const auto text = [](const char* equation, const std::vector<Tensor>& operands) {
    return error_text([&] { einsum(equation, operands, {"model.cpp", 7}); });
  };
  EXPECT_EQ(text("ij,jk", {x}),
            "error[RT0276]: einsum: 1 operands for 2 parts of the equation\n"
            "  where:    model.cpp:7\n"
            "  got:      \"ij,jk\"\n"
            "  expected: an operand for each part between commas\n"
            "  help:     einsum(\"bij,bjk->bik\", {a, b})");
  EXPECT_NE(text("i->i", {x}).find("i names 1 axes of an operand that has 2"), std::string::npos);
  EXPECT_NE(text("ii->i", {x}).find("the letter i is there twice"), std::string::npos);
  EXPECT_NE(text("...i->i", {x}).find(". is no letter"), std::string::npos);
  EXPECT_NE(text("ij->k", {x}).find("no operand has the letter k"), std::string::npos);
  EXPECT_NE(text("ij,ij->i", {x, Tensor::zeros({2, 4})}).find("the letter j has the sizes 3 and 4"), std::string::npos);
}

}  // namespace
}  // namespace retrace
