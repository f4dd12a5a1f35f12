#include "retrace/ops/scan/scan.h"

#include <gtest/gtest.h>

#include "retrace/autodiff/value_and_grad.h"
#include "retrace/ops/concatenate/concatenate.h"
#include "retrace/ops/linear/linear.h"
#include "retrace/ops/lstm/lstm.h"
#include "retrace/ops/matmul/matmul.h"
#include "retrace/ops/mean/mean.h"
#include "retrace/ops/random/random.h"
#include "retrace/ops/slice/slice.h"
#include "retrace/ops/sum/sum.h"
#include "retrace/ops/tanh/tanh.h"
#include "retrace/ops/testing/op_case.h"
#include "retrace/run/accelerate.h"

namespace retrace {
namespace {

using Tensors = std::vector<Tensor>;

Tensors decay(const Tensors& in, const ScanOptions& options) {
  const auto made = scan(
      [](const Tree& s, const Tree& x) -> ScanStep {
        const Tensor next = s.tensor() * 0.5 + tanh(x);
        return {next, next * next};
      },
      in[0], in[1], options);
  return {made.state, made.results};
}

// State, xs, weights and recurrent weights, which the body uses from outside.
Tensors recurrence(const Tensors& in) {
  const auto made = scan(
      [&](const Tree& h, const Tree& x) -> ScanStep {
        const Tensor next = tanh(linear(x, in[2]) + matmul(h.tensor(), in[3]));
        return {next, next};
      },
      in[0], in[1]);
  return {made.state, made.results};
}

// No xs: W is applied again and again, and steps are counted.
Tensors powers(const Tensors& in) {
  const Tree state = {{"n", Tensor::zeros({}, DType::i32)}, {"v", in[0]}};
  const auto made = scan(
      [&](const Tree& s, const Tree&) -> ScanStep {
        return {{{"n", s["n"].tensor() + 1}, {"v", tanh(matmul(in[1], s["v"].tensor()))}}, Tree()};
      },
      state, Tree(), {.length = 5});
  return {made.state["v"]};
}

// For each row a scan over its elements.
Tensors nested(const Tensors& in) {
  const auto made = scan(
      [](const Tree& total, const Tree& row) -> ScanStep {
        const auto inner = scan(
            [&](const Tree& s, const Tree& x) -> ScanStep {
              const Tensor next = tanh(s.tensor() + x.tensor() * total.tensor());
              return {next, next};
            },
            total, row);
        return {inner.state, inner.results};
      },
      in[0], in[1]);
  return {made.state, made.results};
}

OP_CASES(scan) {
  const Bound bound{.ulp = 8, .relative = 2e-6}, gradient{.ulp = 8, .relative = 8e-6, .tiny = true};
  const auto of = [&](std::string name, std::vector<CaseInput> inputs, auto build) {
    return OpCase{.op = "scan", .name = name, .inputs = inputs, .build = build, .bound = bound, .gradient = gradient};
  };
  return {of("decay", {{.shape = {3}}, {.shape = {7, 3}}}, [](const Tensors& in) { return decay(in, {}); }),
          of("of_one_step", {{.shape = {3}}, {.shape = {1, 3}}}, [](const Tensors& in) { return decay(in, {}); }),
          of("of_labelled_steps", {{.shape = {2, 3}, .labels = "BC"}, {.shape = {2, 4, 3}, .labels = "BTC"}},
             [](const Tensors& in) { return decay(in, {}); }),
          of("reverse", {{.shape = {3}}, {.shape = {5, 3}}},
             [](const Tensors& in) { return decay(in, {.reverse = true}); }),
          of("recurrence", {{.shape = {4, 3}}, {.shape = {6, 4, 5}}, {.shape = {3, 5}}, {.shape = {3, 3}}}, recurrence),
          of("powers", {{.shape = {3, 2}}, {.shape = {3, 3}}}, powers),
          of("nested", {{.shape = {}}, {.shape = {3, 4}}}, nested)};
}

}  // namespace
}  // namespace retrace
