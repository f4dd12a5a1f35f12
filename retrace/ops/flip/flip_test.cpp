#include "retrace/ops/flip/flip.h"

#include <gtest/gtest.h>

#include "retrace/ops/testing/op_case.h"
#include "retrace/ops/testing/op_case_run.h"

namespace retrace {
namespace {

OpCase moved_case(const char* op, const char* name, CaseFunction build) {
  return {.op = op, .name = name, .inputs = {{.shape = {3, 5, 7}}}, .build = std::move(build)};
}

OP_EXAMPLE(take, take(reshape(Tensor::arange(6), {2, 3}), 1, Tensor::from({2, 0}, {2})));
OP_EXAMPLE(flip, flip(reshape(Tensor::arange(6), {2, 3}), 1));
OP_EXAMPLE(roll, roll(Tensor::arange(5), 0, 2));

OP_CASES(flip) {
  return {moved_case("flip", "first", [](const auto& in) { return std::vector{flip(in[0], 0)}; }),
          moved_case("flip", "all", [](const auto& in) { return std::vector{flip(in[0])}; }),
          moved_case("flip", "last", [](const auto& in) { return std::vector{flip(in[0], -1)}; }),
          moved_case("flip", "two_of_three", [](const auto& in) { return std::vector{flip(in[0], {0, 2})}; }),
          {.op = "flip",
           .name = "rows_of_16_bytes",
           .inputs = {{.shape = {3, 2, 8}}},
           .build = [](const auto& in) { return std::vector{flip(in[0], 0)}; }},
          moved_case("gather_rows", "of_take_twice",
                     [](const auto& in) {
                       const auto index = Tensor::from<int32_t>({4, 0, 4, 2}, {4});
                       return std::vector{take(in[0], 1, index.to(in[0].device()))};
                     }),
          moved_case("concatenate", "of_roll", [](const auto& in) { return std::vector{roll(in[0], -1, 3)}; })};
}

TEST(Flip, ReversesAxes) {
  const auto x = Tensor::from<int32_t>({1, 2, 3, 4, 5, 6}, {2, 3});
  EXPECT_EQ(flip(x, 1).to_vector<int32_t>(), (std::vector<int32_t>{3, 2, 1, 6, 5, 4}));
  EXPECT_EQ(flip(x, 0).to_vector<int32_t>(), (std::vector<int32_t>{4, 5, 6, 1, 2, 3}));
  EXPECT_EQ(flip(x).to_vector<int32_t>(), (std::vector<int32_t>{6, 5, 4, 3, 2, 1}));
  EXPECT_EQ(flip(Tensor::zeros({2, 3, 3, 4}, DType::f32, "BSSC"), "S").spec().text(), "f32[2,3,3,4] \"BSSC\"");
}

TEST(Roll, MovesElementsAround) {
  const auto x = Tensor::from<float>({1, 2, 3, 4}, {4});
  EXPECT_EQ(roll(x, 0, 1).to_vector<float>(), (std::vector<float>{4, 1, 2, 3}));
  EXPECT_EQ(roll(x, 0, -1).to_vector<float>(), (std::vector<float>{2, 3, 4, 1}));
  EXPECT_EQ(roll(x, 0, 9).to_vector<float>(), (std::vector<float>{4, 1, 2, 3}));
  EXPECT_EQ(roll(x, 0, 4).to_vector<float>(), (std::vector<float>{1, 2, 3, 4}));
}

TEST(Take, SaysWhatDoesNotFit) {
  const Tensor x = Tensor::zeros({2, 3});
  EXPECT_EQ(error_text([&] { take(x, 0, Tensor::zeros({1, 1}, DType::i32), {"model.cpp", 7}); }),
            "error[RT0219]: take: the index has 2 axes\n"
            "  where:    model.cpp:7\n"
            "  got:      index i32[1,1]\n"
            "  expected: one axis");
  EXPECT_NE(error_text([&] { flip(x, 2); }).find("flip: axis 2 does not exist"), std::string::npos);
}

}  // namespace
}  // namespace retrace
