// The whole texts of what tensors, shapes, labels and trees refuse.
#include "retrace/tensor/tensor.h"

#include <gtest/gtest.h>

#include "retrace/ops/testing/op_case.h"
#include "retrace/tensor/tree.h"

namespace retrace {
namespace {

const Place kTensorPlace{"model.cpp", 7};

TEST(Tensors, RefuseSizesThatAreNone) {
  EXPECT_EQ(error_text([] { Tensor::from<float>({1}, {-1}, "", kTensorPlace); }),
            "error[RT0102]: a shape has the negative size -1\n"
            "  where:    model.cpp:7");
  EXPECT_EQ(error_text([] { Tensor::zeros({2, -1}, DType::f32, "", kTensorPlace); }),
            "error[RT0102]: the shape [2,-1] has a negative size\n"
            "  where:    model.cpp:7\n"
            "  expected: sizes of 0 or more");
  EXPECT_EQ(error_text([] { Tensor::from<float>({1, 2}, {3}, "", kTensorPlace); }),
            "error[RT0103]: 2 values do not fill the shape [3]\n"
            "  where:    model.cpp:7\n"
            "  expected: 3 values");
  EXPECT_EQ(error_text([] { Shape({1, 1, 1, 1, 1, 1, 1, 1, 1}, kTensorPlace); }),
            "error[RT0101]: a tensor has at most 8 axes\n"
            "  where:    model.cpp:7\n"
            "  help:     merge axes with reshape");
}

TEST(Tensors, RefuseMoreElementsThanMemoryCanName) {
  constexpr int64_t most = int64_t{1} << 40;
  EXPECT_EQ(Shape({most}).count(), most);
  EXPECT_EQ(Shape({most, 0}).count(), 0);
  EXPECT_EQ(error_text([] { Tensor::zeros({most, most}, DType::f32, "", kTensorPlace); }),
            "error[RT0107]: the shape [1099511627776,1099511627776] has too many elements\n"
            "  where:    model.cpp:7\n"
            "  expected: sizes with a product of at most 1099511627776");
  for (const Shape& shape : {Shape{0, most, 2}, Shape{most, 2, 0}, Shape{INT64_MAX, 2}})
    EXPECT_THROW(shape.count(), Error) << shape.text();
}

TEST(Tensors, RefuseWrongLabels) {
  EXPECT_EQ(error_text([] { Labels("BX"); }),
            "error[RT0110]: unknown label 'X' in \"BX\"\n"
            "  expected: labels B (batch), T (time), S (space), C (channel), U (unspecified)");
  EXPECT_EQ(error_text([] { Labels("BCB"); }),
            "error[RT0111]: label 'B' stands twice in \"BCB\"\n"
            "  expected: B, T and C at most once; S and U may repeat\n"
            "  help:     use U for an axis without a meaning of its own");
  EXPECT_EQ(error_text([] { Labels("UUUUUUUUU"); }), "error[RT0101]: a tensor has at most 8 axes");
  EXPECT_EQ(error_text([] { Tensor::from<float>({1, 2}, {1, 2}, "B", kTensorPlace); }),
            "error[RT0112]: labels \"B\" are fewer than the axes of [1,2]\n"
            "  where:    model.cpp:7\n"
            "  expected: 2 labels\n"
            "  help:     write U for an axis without a meaning of its own");
  const Tensor x = Tensor::zeros({1, 2});
  EXPECT_EQ(error_text([&] { x.relabelled("B", {}, kTensorPlace); }),
            "error[RT0112]: labels \"B\" do not fit f32[1,2]\n"
            "  where:    model.cpp:7");
  EXPECT_EQ(error_text([&] { x.relabelled("CB", {}, kTensorPlace); }),
            "error[RT0113]: labels \"CB\" are not in canonical order\n"
            "  where:    model.cpp:7\n"
            "  expected: the order B T S C U");
}

TEST(Tensors, RefuseToBeReadAsWhatTheyAreNot) {
  const Tensor x = Tensor::zeros({2});
  EXPECT_EQ(error_text([] { Tensor().shape(kTensorPlace); }),
            "error[RT0104]: a tensor that was never given a value is used\n"
            "  where:    model.cpp:7");
  EXPECT_EQ(error_text([&] { x.to_vector<int32_t>(kTensorPlace); }),
            "error[RT0105]: values of type i32 are asked of a tensor of type f32\n"
            "  where:    model.cpp:7\n"
            "  got:      f32[2]\n"
            "  help:     cast(x, DType::...) converts");
  EXPECT_EQ(error_text([&] { x.item<float>(kTensorPlace); }),
            "error[RT0106]: one value is asked of a tensor with 2 elements\n"
            "  where:    model.cpp:7\n"
            "  got:      f32[2]");
}

TEST(Trees, SayWhatTheyHold) {
  const Tree empty, leaf(Tensor::zeros({2})), tree{{"weights", leaf}, {"bias", leaf}};
  EXPECT_EQ(error_text([&] { tree[{"weight", kTensorPlace}]; }),
            "error[RT0120]: the tree has no entry \"weight\"\n"
            "  where:    model.cpp:7\n"
            "  got:      entries bias, weights\n"
            "  help:     did you mean \"weights\"?");
  EXPECT_EQ(error_text([&] { empty[{"x", kTensorPlace}]; }),
            "error[RT0120]: the tree has no entry \"x\"\n"
            "  where:    model.cpp:7\n"
            "  got:      an empty tree");
  EXPECT_EQ(error_text([&] { leaf[{"x", kTensorPlace}]; }),
            "error[RT0120]: the tree has no entry \"x\"\n"
            "  where:    model.cpp:7\n"
            "  got:      a single tensor f32[2]");
  Tree changed = leaf;
  EXPECT_EQ(error_text([&] { changed[{"x", kTensorPlace}] = leaf; }),
            "error[RT0121]: \"x\" is asked of a tree that is a single tensor\n"
            "  where:    model.cpp:7\n"
            "  got:      f32[2]");
  EXPECT_EQ(error_text([&] { tree.tensor(kTensorPlace); }),
            "error[RT0122]: a tensor is asked of a tree that is a branch\n"
            "  where:    model.cpp:7\n"
            "  got:      a tree with the entry \"bias\"\n"
            "  help:     name the entry: tree[\"name\"]");
  EXPECT_EQ(error_text([&] { check_same_structure(tree, leaf, "swap", kTensorPlace); }),
            "error[RT0123]: swap: the trees differ at \"(the root)\"\n"
            "  where:    model.cpp:7\n"
            "  expected: two trees with the same names and nesting");
}

}  // namespace
}  // namespace retrace
