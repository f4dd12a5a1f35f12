#include <gtest/gtest.h>

#include "retrace/ops/testing/op_case.h"
#include "retrace/tensor/tensor.h"

namespace retrace {
namespace {

const Place place{"model.cpp", 7};

TEST(Creation, OnesHaveShapeTypeAndLabels) {
  const Tensor x = Tensor::ones({2, 2}, DType::u8, "BC");
  EXPECT_EQ(x.to_vector<uint8_t>(), (std::vector<uint8_t>{1, 1, 1, 1}));
  EXPECT_EQ(x.spec().text(), "u8[2,2] \"BC\"");
}

TEST(Creation, LabelsMayStandAloneOrBeforeTheType) {
  EXPECT_EQ(Tensor::zeros({2, 3}, "BC").spec().text(), "f32[2,3] \"BC\"");
  EXPECT_EQ(Tensor::ones({2, 3}, "CB").spec().text(), "f32[3,2] \"BC\"");
  EXPECT_EQ(Tensor::full(7, {2}, "B", DType::i32).spec().text(), "i32[2] \"B\"");
  EXPECT_EQ(Tensor::full(7, {2}, "B", DType::i32).to_vector<int32_t>(), (std::vector<int32_t>{7, 7}));
  EXPECT_EQ(Tensor::zeros({2}, DType::u8).spec().text(), "u8[2]");
  EXPECT_THROW(Tensor::ones({2, 3}, "B"), Error);
}

TEST(Creation, ArangeStopsBeforeItsEnd) {
  EXPECT_EQ(Tensor::arange(3).to_vector<float>(), (std::vector<float>{0, 1, 2}));
  EXPECT_EQ(Tensor::arange(3, DType::i32).to_vector<int32_t>(), (std::vector<int32_t>{0, 1, 2}));
  EXPECT_EQ(Tensor::arange(1, 2, 0.25).to_vector<float>(), (std::vector<float>{1, 1.25, 1.5, 1.75}));
  EXPECT_EQ(Tensor::arange(2, -3, -2, DType::i32).to_vector<int32_t>(), (std::vector<int32_t>{2, 0, -2}));
  EXPECT_EQ(Tensor::arange(2, 2).size(), 0);
  EXPECT_EQ(Tensor::arange(2, 1).size(), 0);
  const auto tenths = Tensor::arange(0, 1, 0.1, DType::f64).to_vector<double>();
  ASSERT_EQ(tenths.size(), 10u);
  for (int i = 0; i < 10; ++i) EXPECT_EQ(tenths[static_cast<size_t>(i)], i * 0.1);
}

TEST(Creation, LinspaceReachesItsEnd) {
  EXPECT_EQ(Tensor::linspace(0, 1, 5).to_vector<float>(), (std::vector<float>{0, 0.25, 0.5, 0.75, 1}));
  EXPECT_EQ(Tensor::linspace(3, -3, 3, DType::i32).to_vector<int32_t>(), (std::vector<int32_t>{3, 0, -3}));
  EXPECT_EQ(Tensor::linspace(2, 7, 1).to_vector<float>(), (std::vector<float>{2}));
  EXPECT_EQ(Tensor::linspace(2, 7, 0).size(), 0);
  const auto x = Tensor::linspace(-0.1, 0.7, 50, DType::f64).to_vector<double>();
  for (int i = 0; i < 49; ++i) {
    const double way = i * ((0.7 - -0.1) / 49);
    EXPECT_EQ(x[static_cast<size_t>(i)], -0.1 + way);
  }
  EXPECT_EQ(x[49], 0.7);
}

TEST(Creation, EyeHasOnesOnItsDiagonal) {
  EXPECT_EQ(Tensor::eye(3, DType::i32).to_vector<int32_t>(), (std::vector<int32_t>{1, 0, 0, 0, 1, 0, 0, 0, 1}));
  EXPECT_EQ(Tensor::eye(0).spec().text(), "f32[0,0]");
  EXPECT_EQ(Tensor::eye(2, DType::boolean).to_vector<uint8_t>(), (std::vector<uint8_t>{1, 0, 0, 1}));
}

TEST(Creation, RefusesWhatIsNoTensor) {
  EXPECT_EQ(error_text([] { Tensor::arange(0, 1, 0, DType::f32, place); }),
            "error[RT0168]: arange: no tensor leads from 0 to 1 by 0\n"
            "  where:    model.cpp:7\n"
            "  expected: finite numbers, a step other than 0, and at most 1099511627776 elements");
  EXPECT_THROW(Tensor::arange(0, 1, 1e-300), Error);
  EXPECT_THROW(Tensor::arange(0, __builtin_inf()), Error);
  EXPECT_THROW(Tensor::arange(__builtin_nan("")), Error);
  EXPECT_EQ(error_text([] { Tensor::arange(0, 1, 0.5, DType::i32, place); }),
            "error[RT0108]: the number 0.5 does not fit the type i32\n"
            "  where:    model.cpp:7\n"
            "  expected: whole numbers from -2147483648 to 2147483647");
  EXPECT_THROW(Tensor::arange(300, DType::u8), Error);
  EXPECT_EQ(error_text([] { Tensor::linspace(0, 1, -2, DType::f32, place); }),
            "error[RT0169]: linspace: no -2 numbers lead from 0 to 1\n"
            "  where:    model.cpp:7\n"
            "  expected: finite numbers whose difference is finite, and a count of 0 or more");
  EXPECT_THROW(Tensor::linspace(-1e308, 1e308, 3), Error);
  EXPECT_EQ(error_text([] { Tensor::eye(-1, DType::f32, place); }),
            "error[RT0102]: the shape [-1,-1] has a negative size\n"
            "  where:    model.cpp:7\n"
            "  expected: sizes of 0 or more");
}

}  // namespace
}  // namespace retrace
