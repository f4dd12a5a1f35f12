#include "retrace/ops/softmax/softmax.h"

#include <gtest/gtest.h>

#include <bit>
#include <cmath>

#include "retrace/base/elementary.h"
#include "retrace/base/hash.h"
#include "retrace/ops/broadcast/broadcast.h"
#include "retrace/ops/slice/slice.h"
#include "retrace/ops/testing/op_case.h"
#include "retrace/ops/testing/reduce_reference.h"
#include "tests/tested_targets.h"

namespace retrace {
namespace {

OP_EXAMPLE(softmax, softmax(Tensor::from<float>({0, 0, 0, 1}, {2, 2})));

OP_CASES(softmax) {
  const auto with = [](const char* name, Shape shape, Axes axis = {}, const char* labels = "") {
    return OpCase{.op = "softmax",
                  .name = name,
                  .inputs = {{.shape = shape, .labels = labels}},
                  .build = [axis](const std::vector<Tensor>& in) { return std::vector<Tensor>{softmax(in[0], axis)}; },
                  .bound = {.ulp = 6, .relative = 1e-7, .tiny = true}};
  };
  std::vector<OpCase> cases{with("a_row", {5}),
                            with("ten_classes", {33, 10}),
                            with("one_class", {4, 1}),
                            with("long", {3, 1000}),
                            with("many_blocks", {2, 9001}),
                            with("first_axis", {7, 5}, 0),
                            with("middle_axis", {3, 40, 5}, -2),
                            with("labelled", {4, 2, 3, 6}, {}, "BSSC"),
                            with("channels_before_u", {4, 5, 3}, {}, "BCU")};
  for (auto& one : {with("empty", {0, 3}), with("no_classes", {3, 0})})
    cases.push_back(one), cases.back().differentiable = false;
  auto special = with("special_values", {4, 16});
  special.inputs[0].values = special_values();
  special.differentiable = false;
  cases.push_back(special);
  auto hand = with("by_hand", {5, 2});
  hand.inputs[0].values = {0, 0, 1000, 0, -200, 0, -__builtin_inf(), 3, 87, 0};
  hand.expected = {0.5, 0.5, 1, 0, 0, 1, 0, 1, 1, static_cast<double>(rules::exp(-87.0f))};
  hand.differentiable = false;
  cases.push_back(hand);
  return cases;
}

TEST(Softmax, HasTheWrittenSequenceOfRoundings) {
  for (size_t count : {1u, 2u, 10u, 16u, 17u, 255u, 256u, 257u, 3000u}) {
    std::vector<float> x, e, expected;
    for (size_t i = 0; i < count; ++i)
      x.push_back(static_cast<float>(mix64(i + 77 * count) >> 44) * 0x1p-14f);  // 0..64
    const float most = *std::max_element(x.begin(), x.end());
    for (float v : x) e.push_back(rules::exp(v - most));
    const float total = reference::row_sum(e);
    for (float v : e) {
      const float quotient = v / total;
      expected.push_back(quotient < 0x1p-126f ? 0.0f : quotient);
    }
    const auto size = static_cast<int64_t>(count);
    const auto y = softmax(Tensor::from(x, {1, size})).to_vector<float>();
    const auto column = softmax(Tensor::from(x, {size, 1}), 0).to_vector<float>();
    const Tensor many = softmax(broadcast(Tensor::from(x, {size, 1}), {size, 19}), 0);
    const auto beside = select(many, 1, 17).to_vector<float>();
    for (size_t i = 0; i < count; ++i) {
      ASSERT_EQ(std::bit_cast<uint32_t>(y[i]), std::bit_cast<uint32_t>(expected[i])) << count << " " << i;
      ASSERT_EQ(std::bit_cast<uint32_t>(column[i]), std::bit_cast<uint32_t>(expected[i])) << count << " " << i;
      ASSERT_EQ(std::bit_cast<uint32_t>(beside[i]), std::bit_cast<uint32_t>(expected[i])) << count << " " << i;
    }
  }
}

TEST(Softmax, RowsTogetherAreTheRowsAlone) {
  constexpr int64_t rows = 35;
  const auto before = simd_target();
  for (const auto target : tested_targets()) {
    set_simd_target(name_of(target));
    for (int64_t count : {1, 3, 8, 10, 15, 16, 17, 31, 86, 256, 257}) {
      std::vector<float> x;
      for (int64_t i = 0; i < rows * count; ++i)
        x.push_back(static_cast<float>(mix64(static_cast<uint64_t>(i + 991 * count)) >> 44) * 0x1p-14f);
      x[static_cast<size_t>(20 * count)] = __builtin_nanf("");
      x[static_cast<size_t>(2 * count)] = -__builtin_huge_valf();
      const auto all = softmax(Tensor::from(x, {rows, count})).to_vector<float>();
      for (int64_t row = 0; row < rows; ++row) {
        const std::vector<float> one(x.begin() + row * count, x.begin() + (row + 1) * count);
        const auto alone = softmax(Tensor::from(one, {1, count})).to_vector<float>();
        for (size_t i = 0; i < alone.size(); ++i) {
          const float y = all[static_cast<size_t>(row * count) + i];
          ASSERT_TRUE(y != y ? alone[i] != alone[i] : std::bit_cast<uint32_t>(y) == std::bit_cast<uint32_t>(alone[i]))
              << name_of(target) << " " << count << " row " << row << " element " << i;
        }
      }
    }
  }
  set_simd_target(name_of(before));
}

TEST(Softmax, WrongArgumentsAreErrors) {
  const Place place{"model.cpp", 7};
  EXPECT_EQ(error_text([&] { softmax(Tensor::zeros({3}, DType::i32), {}, place); }),
            "error[RT0131]: softmax: x is i32\n"
            "  where:    model.cpp:7\n"
            "  got:      x i32[3]\n"
            "  expected: f32 or f64\n"
            "  help:     cast(x, DType::f32)");
  EXPECT_EQ(error_text([&] { softmax(Tensor::zeros({3}), 1, place); }),
            "error[RT0134]: softmax: axis 1 does not exist\n"
            "  where:    model.cpp:7\n"
            "  got:      a tensor with 1 axes\n"
            "  expected: an axis from -1 to 0");
  EXPECT_EQ(error_text([&] { softmax(Tensor::zeros({}), {}, place); }),
            "error[RT0134]: softmax: axis -1 does not exist\n"
            "  where:    model.cpp:7\n"
            "  got:      a tensor with 0 axes\n"
            "  expected: no axis: the tensor has rank 0");
}

}  // namespace
}  // namespace retrace
