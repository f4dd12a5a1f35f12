#pragma once
// What every loss of a prediction and a target refuses.

#include <gtest/gtest.h>

#include "retrace/ops/testing/op_case.h"

namespace retrace {

inline void expect_arguments_are_checked(const std::string& op, Tensor (*loss)(const Tensor&, const Tensor&, Place)) {
  const auto text = [&](const Tensor& y, const Tensor& t) { return error_text([&] { loss(y, t, {"model.cpp", 7}); }); };
  EXPECT_EQ(text(Tensor::zeros({4, 2}, DType::i32), Tensor::zeros({4, 2})),
            "error[RT0131]: " + op +
                ": the prediction is i32\n"
                "  where:    model.cpp:7\n"
                "  got:      the prediction i32[4,2]\n"
                "  expected: f32 or f64\n"
                "  help:     cast(the prediction, DType::f32)");
  EXPECT_EQ(text(Tensor::zeros({4}), Tensor::zeros({4}, DType::i32)), "error[RT0132]: " + op +
                                                                          ": the arguments have the types f32 and i32\n"
                                                                          "  where:    model.cpp:7\n"
                                                                          "  got:      f32[4] and the target i32[4]\n"
                                                                          "  expected: one type\n"
                                                                          "  help:     cast(the target, DType::f32)");
  const auto differ = [&](const std::string& got) {
    return "error[RT0139]: " + op +
           ": prediction and target differ in shape\n"
           "  where:    model.cpp:7\n"
           "  got:      " +
           got +
           "\n"
           "  expected: the same sizes and labels: losses do not broadcast\n"
           "  help:     one_hot(...) makes targets of class numbers; reshape the target";
  };
  EXPECT_EQ(text(Tensor::zeros({4, 1}), Tensor::zeros({4})), differ("prediction f32[4,1], target f32[4]"));
  EXPECT_EQ(text(Tensor::zeros({4, 2}, DType::f32, "BC"), Tensor::zeros({4, 2}, DType::f32, "BT")),
            differ("prediction f32[4,2] \"BC\", target f32[4,2] \"BT\""));
}

}  // namespace retrace
