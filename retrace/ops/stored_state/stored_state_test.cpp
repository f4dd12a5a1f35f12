#include "retrace/ops/stored_state/stored_state.h"

#include "retrace/ops/op_case.h"

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

}  // namespace retrace
