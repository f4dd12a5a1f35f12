#include "retrace/ops/operators.h"

#include <gtest/gtest.h>

#include "retrace/base/error.h"

namespace retrace {
namespace {

using Floats = std::vector<float>;
using Truths = std::vector<uint8_t>;

TEST(Operators, AssignmentsChangeTheTensorAndNotItsCopies) {
  Tensor x = Tensor::from<float>({1, 2, 3}, {3});
  const Tensor before = x;
  x += 1;
  x *= Tensor::from<float>({1, 10, 100}, {3});
  x -= 0.5f;
  x /= 2;
  EXPECT_EQ(x.to_vector<float>(), (Floats{0.75f, 14.75f, 199.75f}));
  EXPECT_EQ(before.to_vector<float>(), (Floats{1, 2, 3}));
}

TEST(Operators, ComparisonsAreThoseOfTheOps) {
  const Tensor x = Tensor::from<float>({1, 2, 3}, {3}), y = Tensor::from<float>({3, 2, 1}, {3});
  EXPECT_EQ((x < y).to_vector<uint8_t>(), (Truths{1, 0, 0}));
  EXPECT_EQ((x <= 2).to_vector<uint8_t>(), (Truths{1, 1, 0}));
  EXPECT_EQ((2.0 > x).to_vector<uint8_t>(), (Truths{1, 0, 0}));
  EXPECT_EQ((x >= y).to_vector<uint8_t>(), (Truths{0, 1, 1}));
  EXPECT_EQ((x < y).type(), DType::boolean);
}

TEST(Operators, ErrorsSayTheLineOfTheProgram) {
  Tensor bytes = Tensor::from<uint8_t>({1, 2}, {2});
  int line = 0;
  try {
    line = __LINE__ + 1;
    bytes += 0.5f;
    FAIL();
  } catch (const Error& error) {
    EXPECT_NE(std::string(error.what()).find("operators_test.cpp:" + std::to_string(line)), std::string::npos)
        << error.what();
  }
}

}  // namespace
}  // namespace retrace
