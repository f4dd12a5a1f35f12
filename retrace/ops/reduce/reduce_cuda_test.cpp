// Reductions of many blocks on a CUDA device: the bits of the CPU, and as many launches as there are passes.
#include <gtest/gtest.h>

#include "retrace/device/cuda/cuda_device.h"
#include "retrace/ops/argmax/argmax.h"
#include "retrace/ops/moments/moments.h"
#include "retrace/ops/operators.h"
#include "retrace/ops/random/random.h"
#include "retrace/ops/reduce/reduce_launch.h"
#include "retrace/ops/sum/sum.h"
#include "retrace/ops/testing/op_case_run.h"
#include "retrace/run/plan_cache.h"

namespace retrace {
namespace {

struct Problem {
  Shape shape;
  int axis;
  size_t launches;  // of its sum
  size_t of_chains;
};

void PrintTo(const Problem& problem, std::ostream* out) { *out << problem.shape.text() << " over " << problem.axis; }

class ReduceOnCuda : public testing::TestWithParam<Problem> {
 protected:
  void SetUp() override {
    if (!can_use_gpu()) GTEST_SKIP() << cuda_problem();
  }
  template <class F>
  void expect_same_bits(F reduce, size_t launches) {
    const auto& [shape, axis, launches_of_sum, launches_of_chains] = GetParam();
    const Tensor x = uniform(shape, random_key(3)) - 0.25f;
    const Tensor there = x.to(*gpus()[0]);
    const std::vector<Tensor> expected = reduce(x);
    for (int run = 0; run < 2; ++run) {  // the second finds the counters as the first has left them
      const std::vector<Tensor> made = reduce(there);
      evaluate();
      EXPECT_EQ(last_plan()->kernel_calls(), launches);
      for (size_t i = 0; i < made.size(); ++i) EXPECT_EQ(bit_difference(expected[i], made[i]), "") << i;
    }
  }
};

TEST_P(ReduceOnCuda, SumsHaveTheBitsOfTheCpu) {
  expect_same_bits([](const Tensor& x) { return std::vector{sum(x, GetParam().axis)}; }, GetParam().launches);
}

TEST_P(ReduceOnCuda, MomentsHaveTheBitsOfTheCpu) {
  expect_same_bits(
      [](const Tensor& x) {
        const auto found = moments(x, GetParam().axis);
        return std::vector{found.mean, found.m2};
      },
      GetParam().launches);
}

TEST_P(ReduceOnCuda, TheFirstMaximumIsThatOfTheCpu) {
  expect_same_bits([](const Tensor& x) { return std::vector{argmax(x, GetParam().axis)}; }, GetParam().launches);
}

// A sum and moments in the kernel of the chain that makes the array, with what is made of them alone; then what reads
// all of it.
TEST_P(ReduceOnCuda, ChainsTakeTheirSumsAlong) {
  expect_same_bits(
      [](const Tensor& x) {
        const int over = GetParam().axis;
        const Tensor y = x * x - x;
        const Tensor total = sum(y + x, over, {.keep = true});
        const auto found = moments(y, over, {.keep = true});
        const Tensor scaled = total * found.mean - found.m2;
        return std::vector{found.mean, y * scaled};
      },
      GetParam().of_chains);
}

// Columns and rows: the last block combines a few parts of a lane, or hundreds; one lane, some, and several blocks of
// lanes; more results than there are counters, which takes two passes, or one with the large blocks of chains. Chains
// take no sums of fewer than 8 channels along.
INSTANTIATE_TEST_SUITE_P(Shapes, ReduceOnCuda,
                         testing::Values(Problem{{70000}, 0, 1, 2}, Problem{{2, 40000}, 1, 1, 2},
                                         Problem{{20001, 3}, 0, 1, 5}, Problem{{3000, 32}, 0, 1, 2},
                                         Problem{{131100, 33}, 0, 1, 2}, Problem{{257, 17600, 1}, 1, 2, 7},
                                         Problem{{257, 2200, 8}, 1, 2, 2}));

// The product of rows, lanes and runs would wrap.
TEST(ReduceOnCudaSizes, MoreBlocksThanAGridHasAreRefused) {
  if (!can_use_gpu()) GTEST_SKIP() << cuda_problem();
  cuda::Launches launches(cuda_device(0).runtime());
  const Attributes axes{{"axes", Shape{0}}};
  for (const Shape& shape : {Shape{2, int64_t{1} << 37}, Shape{int64_t{1} << 20, int64_t{1} << 32}}) {
    const TensorSpec spec{DType::f32, shape, {}, {}};
    const KernelInput input{nullptr, &spec};
    const KernelOutput output{nullptr, &spec};
    try {
      add_reduction({axes, std::span(&input, 1), std::span(&output, 1), nullptr, launches},
                    {"sum_columns_f32", "sum_rows_f32", 4}, {});
      ADD_FAILURE() << shape.text();
    } catch (const Error& error) {
      EXPECT_EQ(error.message(), "sum_columns_f32 has no CUDA kernel for arrays of this size");
    }
  }
}

}  // namespace
}  // namespace retrace
