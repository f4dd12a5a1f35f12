// x[i], select, and ranges along one axis.
#include <gtest/gtest.h>

#include "retrace/ops/slice/slice.h"
#include "retrace/ops/testing/op_case.h"

namespace retrace {
namespace {

const Place place{"model.cpp", 7};
const CaseInput kCount12 = {.shape = {3, 4}, .type = DType::i32, .values = {0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11}};

template <class F>
OpCase part_case(const char* name, CaseInput input, const F& f, std::vector<double> expected = {}) {
  const bool exact = !expected.empty();
  return {.op = "slice",
          .name = name,
          .inputs = {std::move(input)},
          .build = [f](const std::vector<Tensor>& in) { return std::vector<Tensor>{f(in[0])}; },
          .expected = std::move(expected),
          .differentiable = !exact};
}

OP_CASES(parts) {
  const CaseInput images{.shape = {4, 6, 5, 2}, .labels = "BSSC"};
  return {
      part_case("element_of_the_first_axis", {.shape = {3, 5}}, [](const Tensor& x) { return x[1]; }),
      part_case("element_of_a_vector", {.shape = {7}}, [](const Tensor& x) { return x[-1]; }),
      part_case("element_of_images", images, [](const Tensor& x) { return x[2][-1]; }),
      part_case("element_exact", kCount12, [](const Tensor& x) { return x[-2]; }, {4, 5, 6, 7}),
      part_case("selected", images, [](const Tensor& x) { return select(x, "C", 1); }),
      part_case("selected_exact", kCount12, [](const Tensor& x) { return select(x, 1, -1); }, {3, 7, 11}),
      part_case("along_a_label", images, [](const Tensor& x) { return slice(x, "B", {1, 3}); }),
      part_case("along_the_last", {.shape = {3, 9}}, [](const Tensor& x) { return slice(x, -1, {.begin = -4}); }),
      part_case("in_steps", kCount12, [](const Tensor& x) { return slice(x, 1, {.end = -1, .step = 2}); },
                {0, 2, 4, 6, 8, 10}),
  };
}

TEST(Parts, an_element_has_no_axis_and_no_label_left_of_what_it_is_taken_from) {
  const auto x = Tensor::zeros({2, 3, 4, 5}, DType::f32, "BSSC");
  EXPECT_EQ(x[0].spec().text(), "f32[3,4,5] \"SSC\"");
  EXPECT_EQ(select(x, "C", 0).spec().text(), "f32[2,3,4] \"BSS\"");
  EXPECT_EQ(slice(x, "C", {.end = 1}).spec().text(), "f32[2,3,4,1] \"BSSC\"");
  EXPECT_EQ(Tensor::from<float>({1, 2, 3}, {3})[uint8_t{1}].item<float>(), 2);
  const auto part = Tensor::zeros({4, 2}, DType::f32, "BC").relabelled("BC", {8, 4});
  EXPECT_EQ(select(part, "C", 0).spec().part, (BatchPart{8, 4}));
  EXPECT_EQ(part[0].spec().part, BatchPart());
}

TEST(Parts, refuse_an_index_outside_of_the_axis) {
  const auto x = Tensor::zeros({3, 4});
  EXPECT_EQ(error_text([&] { x[{3, place}]; }),
            "error[RT0165]: x[i]: index 3 is outside of axis 0, which has the size 3\n"
            "  where:    model.cpp:7\n"
            "  got:      x f32[3,4]\n"
            "  expected: an index from -3 to 2");
  EXPECT_EQ(error_text([&] { select(x, -1, -5, place); }),
            "error[RT0165]: select: index -5 is outside of axis 1, which has the size 4\n"
            "  where:    model.cpp:7\n"
            "  got:      x f32[3,4]\n"
            "  expected: an index from -4 to 3");
  EXPECT_EQ(error_text([&] { Tensor::zeros({0})[{0, place}]; }),
            "error[RT0165]: x[i]: index 0 is outside of axis 0, which has the size 0\n"
            "  where:    model.cpp:7\n"
            "  got:      x f32[0]\n"
            "  expected: no index: the axis is empty");
  EXPECT_EQ(error_text([&] { Tensor::zeros({})[{0, place}]; }),
            "error[RT0134]: x[i]: axis 0 does not exist\n"
            "  where:    model.cpp:7\n"
            "  got:      a tensor with 0 axes\n"
            "  expected: no axis: the tensor has rank 0");
}

TEST(Parts, refuse_a_range_that_is_not_inside_the_axis) {
  const auto x = Tensor::zeros({3, 4}, DType::f32, "BC");
  EXPECT_EQ(error_text([&] { slice(x, "C", {0, 5}, place); }),
            "error[RT0173]: slice: the range 0 to 5 is not inside axis 1\n"
            "  where:    model.cpp:7\n"
            "  got:      x f32[3,4] \"BC\"\n"
            "  expected: 0 <= begin <= end <= 4");
  EXPECT_EQ(error_text([&] { slice(x, "T", {0, 5}, place); }),
            "error[RT0115]: slice: no axis is labelled T\n"
            "  where:    model.cpp:7\n"
            "  got:      f32[3,4] \"BC\"\n"
            "  expected: a label of the tensor: B, C");
}

}  // namespace
}  // namespace retrace
