#include "retrace/ops/where/where.h"

#include <gtest/gtest.h>

#include "retrace/ops/testing/op_case.h"

namespace retrace {
namespace {

const CaseFunction kWhere = [](const std::vector<Tensor>& in) {
  return std::vector<Tensor>{where(in[0], in[1], in[2])};
};

OP_EXAMPLE(where, where(Tensor::from({true, false, true}, {3}), Tensor::from<float>({1, 2, 3}, {3}),
                        Tensor::from<float>({10, 20, 30}, {3})));

OP_EXAMPLE(where_number, where(Tensor::from({true, false}, {2}), Tensor::from<float>({1, 2}, {2}), -1e9f));

TEST(Where, TakesNumbers) {
  const Tensor mask = Tensor::from({true, false}, {2}), x = Tensor::from<float>({1, 2}, {2});
  const Tree leaf(x);
  EXPECT_EQ(where(mask, x, 0).to_vector<float>(), (std::vector<float>{1, 0}));
  EXPECT_EQ(where(mask, 0.5, x).to_vector<float>(), (std::vector<float>{0.5f, 2}));
  EXPECT_EQ(where(mask, leaf, -1).to_vector<float>(), (std::vector<float>{1, -1}));
  EXPECT_EQ(where(mask, leaf, leaf).to_vector<float>(), (std::vector<float>{1, 2}));
  EXPECT_EQ(where(mask, Tensor::from({5, 6}, {2}), -1).to_vector<int32_t>(), (std::vector<int32_t>{5, -1}));
  EXPECT_THROW(where(mask, Tensor::from({5, 6}, {2}), 0.5f), Error);
}

OP_CASES(where) {
  const auto mask = [](Shape shape, std::string labels = "") {
    return CaseInput{.shape = shape, .low = 0, .high = 2, .type = DType::boolean, .labels = labels};
  };
  std::vector<OpCase> cases;
  const auto add = [&](const char* name, std::vector<CaseInput> inputs) {
    cases.push_back({.op = "where", .name = name, .inputs = std::move(inputs), .build = kWhere});
  };
  add("rank_0", {mask({}), {}, {}});
  add("empty", {mask({0, 3}), {.shape = {0, 3}}, {.shape = {0, 3}}});
  add("odd", {mask({3, 5, 7}), {.shape = {3, 5, 7}}, {.shape = {3, 5, 7}}});
  add("by_position", {mask({3, 1}), {.shape = {3, 5}}, {}});
  add("by_label", {mask({2, 4}, "BC"), {.shape = {2, 3, 3, 4}, .labels = "BSSC"}, {.shape = {4}, .labels = "C"}});
  const double infinity = __builtin_inf(), nan = __builtin_nan("");
  cases.push_back({.op = "where",
                   .name = "copies_bits",
                   .inputs = {{.shape = {6}, .type = DType::boolean, .values = {1, 0, 1, 0, 1, 0}},
                              {.shape = {6}, .values = {-0.0, nan, infinity, nan, nan, 1}},
                              {.shape = {6}, .values = {nan, -0.0, nan, -infinity, 1, nan}}},
                   .build = kWhere,
                   .expected = {-0.0, -0.0, infinity, -infinity, nan, nan},
                   .differentiable = false});
  cases.push_back({.op = "where",
                   .name = "integers",
                   .inputs = {{.shape = {3}, .type = DType::boolean, .values = {1, 0, 1}},
                              {.shape = {3}, .type = DType::i32, .values = {1, 2, 16777217}},
                              {.shape = {3}, .type = DType::i32, .values = {4, 16777219, 6}}},
                   .build = kWhere,
                   .expected = {1, 16777219, 16777217},
                   .differentiable = false});
  return cases;
}

TEST(Where, refuses_a_condition_that_is_not_bool) {
  const auto x = Tensor::zeros({2});
  EXPECT_EQ(error_text([&] { where(x, x, x, {"model.cpp", 7}); }),
            "error[RT0131]: where: the condition is f32\n"
            "  where:    model.cpp:7\n"
            "  got:      the condition f32[2]\n"
            "  expected: bool\n"
            "  help:     cast(the condition, DType::boolean)");
}

TEST(Where, refuses_two_types) {
  const auto mask = Tensor::zeros({2}, DType::boolean), a = Tensor::zeros({2}), b = Tensor::zeros({2}, DType::f64);
  EXPECT_EQ(error_text([&] { where(mask, a, b, {"model.cpp", 7}); }),
            "error[RT0132]: where: the arguments have the types f32 and f64\n"
            "  where:    model.cpp:7\n"
            "  got:      a f32[2] and b f64[2]\n"
            "  expected: one type\n"
            "  help:     cast(b, DType::f32)");
}

TEST(Where, refuses_sizes_that_do_not_fit) {
  const auto mask = Tensor::zeros({3}, DType::boolean), x = Tensor::zeros({2});
  EXPECT_EQ(error_text([&] { where(mask, x, x, {"model.cpp", 7}); }),
            "error[RT0135]: where: the sizes of the arguments do not fit\n"
            "  where:    model.cpp:7\n"
            "  got:      bool[3] and f32[2] and f32[2]\n"
            "  expected: equal sizes, or 1, for each axis (labelled axes by label, others from the last)");
}

}  // namespace
}  // namespace retrace
