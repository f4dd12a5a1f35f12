#include "retrace/ops/take_along_axis/take_along_axis.h"

#include <gtest/gtest.h>

#include "retrace/ops/testing/op_case.h"

namespace retrace {
namespace {

CaseInput index_of(Shape shape, double size) { return {.shape = shape, .low = 0, .high = size, .type = DType::i32}; }

OpCase taken(const char* name, Shape shape, Shape index, int axis) {
  return {.op = "take_along_axis",
          .name = name,
          .inputs = {{.shape = shape}, index_of(index, static_cast<double>(shape[axis]))},
          .build = [=](const auto& in) { return std::vector{take_along_axis(in[0], axis, in[1])}; }};
}

OpCase added(const char* name, Shape shape, Shape index, int axis) {
  const auto add = [=](const Tensor& x, const Tensor& numbers, const Tensor& source) {
    return std::vector{scatter_add(x, axis, numbers, source)};
  };
  const auto magnitude = [=](const Tensor& x) {
    auto values = x.to_vector<double>();
    for (double& value : values) value = value < 0 ? -value : value;
    return Tensor::from_bytes(values.data(), x.spec());
  };
  return {.op = "scatter_add",
          .name = name,
          .inputs = {{.shape = shape}, index_of(index, static_cast<double>(shape[axis])), {.shape = index}},
          .build = [=](const auto& in) { return add(in[0], in[1], in[2]); },
          .bound = {.relative = 4e-6},
          .magnitude = [=](const auto& in) { return add(magnitude(in[0]), in[1], magnitude(in[2])); }};
}

OP_EXAMPLE(take_along_axis, take_along_axis(reshape(Tensor::arange(6), {2, 3}), 1, Tensor::from({2, 0}, {2, 1})));
OP_EXAMPLE(scatter_add,
           scatter_add(Tensor::zeros({4}), 0, Tensor::from({1, 1, 3}, {3}), Tensor::from<float>({1, 2, 3}, {3})));

OP_CASES(take_along_axis) {
  std::vector<OpCase> cases{
      taken("row", {5, 7}, {5, 4}, 1),
      taken("column", {7, 5}, {9, 5}, 0),
      taken("middle", {3, 6, 4}, {3, 11, 4}, 1),
      taken("one_of_each", {9, 5}, {9, 1}, 1),
      taken("many", {3, 5, 1031}, {3, 9, 1031}, 1),
      taken("long", {2, 3001}, {2, 2003}, 1),
      taken("no_index", {5, 3}, {5, 0}, 1),
      taken("empty", {0, 3}, {0, 2}, 1),
      added("row", {5, 7}, {5, 4}, 1),
      added("column", {7, 5}, {19, 5}, 0),
      added("middle", {3, 6, 4}, {3, 11, 4}, 1),
      added("wide", {3, 5, 1031}, {3, 9, 1031}, 1),
      added("many_rows", {3001, 5}, {3001, 9}, 1),
      added("long", {1, 17}, {1, 700}, 1),
      added("no_index", {5, 3}, {5, 0}, 1),
      added("empty", {0, 3}, {0, 2}, 1),
  };
  cases.push_back(taken("labelled", {2, 3, 3, 5}, {2, 3, 3, 2}, 3));
  cases.back().inputs[0].labels = "BSSC";
  cases.push_back(added("labelled", {2, 3, 3, 5}, {2, 3, 3, 2}, 3));
  cases.back().inputs[0].labels = "BSSC";
  OpCase bytes = taken("bytes", {2, 2}, {2, 3}, 1);
  bytes.inputs[0] = {.shape = {2, 2}, .type = DType::u8, .values = {1, 2, 3, 4}};
  bytes.inputs[1].values = {1, 0, 1, 0, 0, 1};
  bytes.expected = {2, 1, 2, 3, 3, 4}, bytes.differentiable = false;
  cases.push_back(bytes);
  OpCase integers = added("integers", {2}, {3}, 0);
  integers.inputs[0] = {.shape = {2}, .type = DType::i32, .values = {0x7fffffff, 5}};
  integers.inputs[1].values = {0, 1, 0};
  integers.inputs[2] = {.shape = {3}, .type = DType::i32, .values = {1, 7, 1}};
  integers.expected = {-0x7fffffff, 12}, integers.differentiable = false, integers.magnitude = nullptr;
  cases.push_back(integers);
  OpCase ordered = added("in_order", {2}, {4}, 0);
  ordered.inputs[0].values = {0x1p24, -0.0}, ordered.inputs[1].values = {0, 0, 0, 1};
  ordered.inputs[2].values = {1, 1, -0x1p24, -0.0};
  ordered.expected = {0, -0.0}, ordered.differentiable = false;
  ordered.bound = {.relative = 1};  // f32 loses the ones
  cases.push_back(ordered);
  return cases;
}

TEST(TakeAlongAxis, NamesTheElementThatDoesNotExist) {
  const auto x = Tensor::zeros({2, 3}), index = Tensor::from<int32_t>({0, 2, 1, 3}, {2, 2});
  EXPECT_EQ(error_text([&] { take_along_axis(x, 1, index, {"model.cpp", 7}).to_vector<float>(); }),
            "error[RT0177]: take_along_axis: element 3 at [1,1] does not exist\n"
            "  where:    model.cpp:7\n"
            "  got:      i32[2,2]\n"
            "  expected: values from 0 to 2\n"
            "  help:     elements of an axis are counted from 0");
  EXPECT_NE(error_text([&] {
              scatter_add(x, 1, index, Tensor::zeros({2, 2})).to_vector<float>();
            }).find("scatter_add: element 3 at [1,1] does not exist"),
            std::string::npos);
}

// The wrong element is found in any piece, whatever lies behind the axis.
TEST(TakeAlongAxis, FindsOneWrongElementAmongMany) {
  const auto refused = [](const Shape& shape, int axis, int64_t at, int32_t value) {
    const auto x = Tensor::zeros(shape);
    std::vector<int32_t> elements(static_cast<size_t>(shape.count()));
    elements[static_cast<size_t>(at)] = value;
    const auto index = Tensor::from(elements, shape);
    const std::string want = fmt::format(": element {} at ", value);
    for (const auto& text : {error_text([&] { take_along_axis(x, axis, index).to_vector<float>(); }),
                             error_text([&] { scatter_add(x, axis, index, x).to_vector<float>(); })})
      if (text.find(want) == std::string::npos) return false;
    return true;
  };
  for (const int64_t at : {0, 70, 65'000, 129'999})
    for (const int32_t value : {13, -1}) {
      EXPECT_TRUE(refused({10'000, 13}, 1, at, value)) << at;
      EXPECT_TRUE(refused({100, 13, 100}, 1, at, value)) << at;
    }
}

TEST(TakeAlongAxis, SaysWhatDoesNotFit) {
  const auto x = Tensor::zeros({2, 3}), index = Tensor::zeros({2, 2}, DType::i32);
  EXPECT_EQ(error_text([&] { take_along_axis(x, 0, index, {"model.cpp", 7}); }),
            "error[RT0244]: take_along_axis: the index does not fit x\n"
            "  where:    model.cpp:7\n"
            "  got:      x f32[2,3] and the index i32[2,2]\n"
            "  expected: the axes of x, of the same sizes but for axis 0\n"
            "  help:     broadcast the index, or slice x, to equal sizes");
  EXPECT_NE(error_text([&] { take_along_axis(x, 1, Tensor::zeros({2}, DType::i32)); }).find("RT0244"),
            std::string::npos);
  EXPECT_NE(error_text([&] { take_along_axis(x, 1, x); }).find("the index is f32"), std::string::npos);
  EXPECT_EQ(error_text([&] { scatter_add(x, 1, index, x, {"model.cpp", 7}); }),
            "error[RT0245]: scatter_add: the source does not fit\n"
            "  where:    model.cpp:7\n"
            "  got:      x f32[2,3], the index i32[2,2] and the source f32[2,3]\n"
            "  expected: a source of the type of x, with the shape of the index");
  EXPECT_NE(error_text([&] { scatter_add(Tensor::zeros({2, 3}, DType::u8), 1, index, x); }).find("x is u8"),
            std::string::npos);
}

}  // namespace
}  // namespace retrace
