// Products whose sums are cut into runs on a CUDA device: the bits of the CPU, and the launches that they take.
#include <gtest/gtest.h>

#include "retrace/device/cuda/cuda_device.h"
#include "retrace/ops/cuda_call.h"
#include "retrace/ops/matmul/matmul.h"
#include "retrace/ops/matmul/matmul_kernel.h"
#include "retrace/ops/operators.h"
#include "retrace/ops/random/random.h"
#include "retrace/ops/testing/op_case_run.h"
#include "retrace/run/plan_cache.h"

namespace retrace {

void cuda_matmul(const MatmulShape& shape, const CudaCall& call);

namespace {

struct Problem {
  const char* what;
  Shape a, b;
  size_t launches;
};

void PrintTo(const Problem& problem, std::ostream* out) { *out << problem.what; }

class MatmulRuns : public testing::TestWithParam<Problem> {};

TEST_P(MatmulRuns, HaveTheBitsOfTheCpu) {
  if (!can_use_gpu()) GTEST_SKIP() << cuda_problem();
  const auto& problem = GetParam();
  const Tensor a = uniform(problem.a, random_key(1)) - 0.5f, b = uniform(problem.b, random_key(2)) - 0.5f;
  const Tensor expected = matmul(a, b), a_there = a.to(*gpus()[0]), b_there = b.to(*gpus()[0]);
  for (int run = 0; run < 2; ++run) {  // the second finds the counters as the first has left them
    const Tensor made = matmul(a_there, b_there);
    evaluate();
    EXPECT_EQ(last_plan()->kernel_calls(), problem.launches);
    EXPECT_EQ(bit_difference(expected, made), "");
  }
}

INSTANTIATE_TEST_SUITE_P(Problems, MatmulRuns,
                         testing::Values(Problem{"one_run", {40, 200}, {200, 7}, 1},
                                         Problem{"few", {5, 600}, {600, 20}, 1},
                                         Problem{"several_tiles", {70, 3001}, {3001, 33}, 1},
                                         Problem{"groups_of_runs", {5, 40000}, {40000, 3}, 1},
                                         Problem{"groups_of_runs_of_tiles", {40, 6000}, {6000, 4}, 1},
                                         Problem{"tiles_of_64", {132, 40, 20}, {132, 20, 36}, 1},
                                         Problem{"tiles_of_128", {264, 66, 20}, {264, 20, 68}, 1},
                                         Problem{"tiles_of_128_from_anywhere", {264, 66, 5}, {264, 5, 65}, 1},
                                         Problem{"few_columns", {132, 66, 200}, {132, 200, 12}, 1},
                                         Problem{"several_products", {3, 10, 1500}, {3, 1500, 4}, 1},
                                         Problem{"three_levels_of_groups", {65, 8500}, {8500, 65}, 1},
                                         Problem{"many_parts_are_combined_by_a_kernel", {64, 34000}, {34000, 64}, 2},
                                         Problem{"more_tiles_than_counters", {260, 2, 520}, {260, 520, 1}, 2}),
                         [](const auto& info) { return std::string(info.param.what); });

// The product of their tiles and matrices would wrap.
TEST(MatmulOnCudaSizes, MoreBlocksThanAGridHasAreRefused) {
  if (!can_use_gpu()) GTEST_SKIP() << cuda_problem();
  cuda::Launches launches(cuda_device(0).runtime());
  const TensorSpec spec{DType::f32, {1}, {}, {}};
  const KernelInput inputs[] = {{nullptr, &spec}, {nullptr, &spec}};
  const KernelOutput output{nullptr, &spec};
  const Attributes none;
  for (const int64_t count : {int64_t{1} << 32, (int64_t{1} << 32) + 1, int64_t{1} << 31}) {
    MatmulShape shape;
    shape.rows = shape.columns = shape.depth = 1, shape.count = count;
    try {
      cuda_matmul(shape, {none, inputs, std::span(&output, 1), nullptr, launches});
      ADD_FAILURE() << count;
    } catch (const Error& error) {
      EXPECT_EQ(error.message(), "matmul has no CUDA kernel for arrays of this size");
    }
  }
  EXPECT_TRUE(launches.all().empty());
}

}  // namespace
}  // namespace retrace
