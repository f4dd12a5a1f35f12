#include "retrace/tensor/axes.h"

#include <gtest/gtest.h>

#include "retrace/base/error.h"

namespace retrace {
namespace {

const TensorSpec kImages{DType::f32, {8, 28, 30, 3}, Labels("BSSC"), {}};
const TensorSpec kMatrix{DType::f32, {4, 5}, {}, {}};
const Place kPlace{"model.cpp", 7};

std::string error_of(const Axes& axes, const TensorSpec& x, bool one = false) {
  try {
    if (one)
      axes.one_of(x, "f", kPlace);
    else
      axes.of(x, "f", kPlace);
  } catch (const Error& error) {
    return error.what();
  }
  return "";
}

TEST(Axes, AreMadeFromAnIndexAListAndLabels) {
  EXPECT_EQ(Axes(0).of(kMatrix, "f"), (Shape{0}));
  EXPECT_EQ(Axes(-1).of(kImages, "f"), (Shape{3}));
  EXPECT_EQ(Axes({-1, 0}).of(kImages, "f"), (Shape{0, 3}));
  EXPECT_EQ(Axes("S").of(kImages, "f"), (Shape{1, 2}));
  EXPECT_EQ(Axes("CB").of(kImages, "f"), (Shape{0, 3}));
  EXPECT_EQ(Axes(std::string("BSS")).of(kImages, "f"), (Shape{0, 1, 2}));
  EXPECT_EQ(Axes(Shape{1}).of(kMatrix, "f"), (Shape{1}));
}

TEST(Axes, NothingNamedIsWhatTheFunctionSays) {
  EXPECT_TRUE(Axes().empty());
  EXPECT_TRUE(Axes("").empty());
  EXPECT_FALSE(Axes(0).empty());
  EXPECT_EQ(Axes().of(kMatrix, "f"), Shape());
  EXPECT_EQ(Axes().of_or_all(kMatrix, "f"), (Shape{0, 1}));
  EXPECT_EQ(Axes(1).of_or_all(kMatrix, "f"), (Shape{1}));
}

TEST(Axes, WrongOnesAreErrorsThatSayWhatThereIs) {
  EXPECT_EQ(error_of(2, kMatrix),
            "error[RT0134]: f: axis 2 does not exist\n"
            "  where:    model.cpp:7\n"
            "  got:      a tensor with 2 axes\n"
            "  expected: an axis from -2 to 1");
  EXPECT_EQ(error_of({1, -1}, kMatrix),
            "error[RT0137]: f: axis 1 stands twice in the axes [1,-1]\n"
            "  where:    model.cpp:7\n"
            "  expected: each axis once");
  EXPECT_EQ(error_of("T", kImages),
            "error[RT0115]: f: no axis is labelled T\n"
            "  where:    model.cpp:7\n"
            "  got:      f32[8,28,30,3] \"BSSC\"\n"
            "  expected: a label of the tensor: B, S, C");
  EXPECT_EQ(error_of("S", kMatrix),
            "error[RT0115]: f: no axis is labelled S\n"
            "  where:    model.cpp:7\n"
            "  got:      f32[4,5]\n"
            "  expected: a tensor with labels\n"
            "  help:     name axes by their numbers");
}

TEST(Axes, OneIsExactlyOne) {
  EXPECT_EQ(Axes("C").one_of(kImages, "f"), 3);
  EXPECT_EQ(Axes(-2).one_of(kMatrix, "f"), 0);
  EXPECT_EQ(error_of("S", kImages, true),
            "error[RT0114]: f: 2 axes are named\n"
            "  where:    model.cpp:7\n"
            "  got:      the axes [1,2] of f32[8,28,30,3] \"BSSC\"\n"
            "  expected: one axis");
  EXPECT_NE(error_of({}, kMatrix, true).find("f: 0 axes are named"), std::string::npos);
}

TEST(Axes, WhatIsNoLabelIsSaidWhereItStands) {
  try {
    const Axes axes("X");
    FAIL();
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), 110);
    EXPECT_NE(std::string(error.what()).find("axes_test.cpp"), std::string::npos) << error.what();
  }
}

}  // namespace
}  // namespace retrace
