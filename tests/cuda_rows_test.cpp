// Chains of narrow layers on a CUDA device, emulated where no other is asked for: one kernel, and the bits of the CPU's
// ops one by one.
#include <gtest/gtest.h>

#include <cstdlib>

#include "retrace/plan/compile.h"
#include "retrace/plan/cuda/cuda_plan.h"
#include "retrace/run/plan_cache.h"
#include "tests/chain_testing.h"
#include "tests/small_emulation.h"

namespace retrace {
namespace {

enum class Form { whole, chunks, apart };  // one kernel with a thread a row, or with fewer rows at a time; or none

// Widths of the layers, the first that of the input.
struct NarrowCase {
  int64_t rows;
  std::vector<int64_t> widths;
  Form form = Form::whole;
  bool special = false;  // infinities, NaN and -0 among inputs and weights
};

void PrintTo(const NarrowCase& c, std::ostream* out) {
  *out << c.rows << " rows";
  for (int64_t width : c.widths) *out << ", " << width;
}

std::string& newest_source() {
  static std::string source;
  return source;
}

Tensor forward(const Tree& p, Tensor x, size_t layers) {
  for (size_t i = 1; i <= layers; ++i) {
    x = linear(x, p["layer" + std::to_string(i)]);
    if (i < layers) x = i % 3 == 1 ? relu(x) : i % 3 == 2 ? exp(x * 0.25f) : x / (exp(-x) + 1.0f);
  }
  return x;
}

// Loss, gradients of the parameters and of the input, and a sum of the prediction.
Bits step(const NarrowCase& c, bool on_device) {
  const size_t layers = c.widths.size() - 1;
  const auto given = [&](const Shape& shape, const std::string& name, const char* labels = "") {
    Tensor tensor = numbers(shape, name.c_str(), labels);
    if (c.special) tensor = with_special(tensor, 97);
    return on_device ? tensor.to(*gpus()[0]) : tensor;
  };
  Tree parameters;
  for (size_t i = 1; i <= layers; ++i) {
    const std::string name = "layer" + std::to_string(i);
    parameters[name] =
        Tree{{"weights", given({c.widths[i], c.widths[i - 1]}, name)}, {"bias", given({c.widths[i]}, name + "b")}};
  }
  const Tensor x = given({c.rows, c.widths[0]}, "x", "BC");
  const Tensor t = given({c.rows, c.widths.back()}, "t", "BC");
  const auto loss = [&](const Tree& both, const Tensor& target) {
    return mean_squared_error(forward(both["p"], both["x"].tensor(), layers), target);
  };
  const Tree both{{"p", parameters}, {"x", x}};
  evaluate();
  const auto [value, gradients] = value_and_grad(loss)(both, t);
  Bits bits;
  add_bits(bits, value);
  for (const auto& [name, tensor] : leaves(gradients)) add_bits(bits, tensor);
  return bits;
}

class CudaRows : public testing::TestWithParam<NarrowCase> {
 protected:
  void SetUp() override {
    if (!can_use_gpu()) GTEST_SKIP() << cuda_problem();
    plan_cache().clear();
    newest_source().clear();
    CudaPlan::watch_sources([](const std::string& source) { newest_source() = source; });
  }
  void TearDown() override {
    CudaPlan::watch_sources(nullptr);
    set_passes_off({});
  }
};

TEST_P(CudaRows, HaveTheBitsOfTheCpu) {
  const NarrowCase& c = GetParam();
  set_passes_off({"fuse_rows", "fuse_prologues", "fuse_pointwise", "fuse_epilogues"});
  const Bits plain = step(c, false);
  set_passes_off({});
  EXPECT_EQ(step(c, true), plain);
  const bool whole = newest_source().find("load_rows<256,") != std::string::npos;
  const bool any = newest_source().find("load_rows<") != std::string::npos;
  EXPECT_EQ(any, c.form != Form::apart);
  EXPECT_EQ(whole, c.form == Form::whole);
}

INSTANTIATE_TEST_SUITE_P(
    Networks, CudaRows,
    testing::Values(NarrowCase{1, {2, 20, 5, 1}}, NarrowCase{7, {3, 6, 5}}, NarrowCase{7, {3, 7, 7}, Form::apart},
                    NarrowCase{20, {2, 20, 5, 1}}, NarrowCase{255, {2, 20, 5, 1}}, NarrowCase{256, {1, 1, 1}},
                    NarrowCase{257, {5, 9, 8, 4}}, NarrowCase{1009, {4, 13, 2}}, NarrowCase{4099, {2, 6, 1}},
                    NarrowCase{300, {20, 24, 20, 24, 20, 24, 3}, Form::chunks},
                    NarrowCase{33, {20, 24, 20, 24, 20, 24, 3}, Form::chunks},
                    NarrowCase{263, {2, 20, 5, 1}, Form::whole, true}, NarrowCase{600, {4, 9, 6}, Form::whole, true},
                    NarrowCase{0, {2, 20, 5, 1}, Form::apart}, NarrowCase{300, {2, 65, 65, 1}, Form::apart},
                    NarrowCase{64, {5, 64, 33, 3}, Form::apart}));

}  // namespace
}  // namespace retrace
