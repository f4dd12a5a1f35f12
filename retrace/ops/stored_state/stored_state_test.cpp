#include "retrace/ops/stored_state/stored_state_op.h"

#include <gtest/gtest.h>

#include "retrace/ops/testing/op_case.h"

namespace retrace {

OP_CASES(stored_state) {
  const OpCase like{.op = "stored_state",
                    .name = "",
                    .inputs = {{}},
                    .build = one(stored_state),
                    .differentiable = false,
                    .no_gradient = "states stand outside of what is differentiated"};
  auto cases = pointwise_cases(like);
  OpCase border = like;
  border.name = "border";
  border.inputs[0] = {.shape = {8},
                      .values = {0x1p-126, -0x1p-126, 0x1.fffffcp-127, -0x1.fffffcp-127, -0.0, 0x1p-149, 1, -2}};
  border.expected = {0x1p-126, -0x1p-126, 0, 0, 0, 0, 1, -2};
  cases.push_back(border);
  return cases;
}

TEST(StoredState, refuses_integers) {
  EXPECT_EQ(error_text([] { stored_state(Tensor::zeros({2}, DType::i32), {"model.cpp", 7}); }),
            "error[RT0131]: stored_state: x is i32\n"
            "  where:    model.cpp:7\n"
            "  got:      x i32[2]\n"
            "  expected: f32 or f64\n"
            "  help:     cast(x, DType::f32)");
}

}  // namespace retrace
