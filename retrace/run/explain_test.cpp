// explain(): the plan of a function as a text, without running it.
#include <gtest/gtest.h>

#include "retrace/retrace.h"

namespace retrace {
namespace {

Tensor loss(const Tree& p, const Tensor& x) { return mean(relu(linear(x, p["weights"]))); }

TEST(Explain, TellsTheKernelCallsOfForwardAndBackwardPass) {
  const Tree parameters{{"weights", Tensor::from({1.0f, 2.0f, 3.0f, 4.0f}, {2, 2})}};
  const Tensor x = Tensor::from({1.0f, 0.0f, 0.0f, 1.0f}, {2, 2});
  const std::string forward = explain(loss, parameters, x);
  EXPECT_NE(forward.find("matmul"), std::string::npos) << forward;
  EXPECT_NE(forward.find("call 0"), std::string::npos) << forward;
  const std::string both = explain(value_and_grad(loss), parameters, x);
  EXPECT_GT(both.size(), forward.size());
  EXPECT_NE(both.find("explain_test.cpp:"), std::string::npos) << both;
}

TEST(Explain, ComputesNothing) {
  const Tensor x = Tensor::from({4.0f}, {1}), zero = Tensor::from({0}, {1});
  int calls = 0;
  const auto f = [&](const Tensor& a, const Tensor& b) {
    ++calls;
    return one_hot(cast(a, DType::i32), 2) + cast(b, DType::f32);  // computed, it would be an error: 4 is no class of 2
  };
  EXPECT_NE(explain(f, x, zero).find("one_hot"), std::string::npos);
  EXPECT_EQ(calls, 1);
  EXPECT_THROW(f(x, zero).to_vector<float>(), Error);
}

}  // namespace
}  // namespace retrace
