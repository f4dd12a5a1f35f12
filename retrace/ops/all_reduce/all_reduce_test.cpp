#include "retrace/ops/all_reduce/all_reduce_op.h"

#include <gtest/gtest.h>
#include <rapidcheck.h>

#include <numeric>

#include "retrace/ops/testing/op_case.h"

namespace retrace {
namespace {

// One worker has everything; tests/workers_test.cpp has more of them.
constexpr ShardSplit kAlone{4, 3, 1, 0};

OP_CASES(all_reduce) {
  const auto reduce = [](const std::vector<Tensor>& in) { return std::vector<Tensor>{all_reduce(in, kAlone)}; };
  const auto gather = [](const std::vector<Tensor>& in) { return std::vector<Tensor>{all_gather(in, kAlone)}; };
  return {
      {.op = "all_reduce", .name = "alone", .inputs = {{.shape = {5, 7}}}, .build = reduce},
      {.op = "all_reduce", .name = "alone_scalar", .inputs = {{.shape = {}}}, .build = reduce},
      {.op = "all_gather", .name = "alone", .inputs = {{.shape = {5, 7}, .labels = "BC"}}, .build = gather},
      {.op = "all_gather",
       .name = "alone_exact",
       .inputs = {{.shape = {2}, .type = DType::i32, .values = {1, 2}}},
       .build = gather,
       .expected = {1, 2},
       .differentiable = false},
  };
}

// The tree over n items, as the contract writes it.
std::string tree(int64_t first, int64_t n) {
  if (n == 1) return std::to_string(first);
  int64_t left = 1;
  while (left * 2 < n) left *= 2;
  return "(" + tree(first, left) + "+" + tree(first + left, n - left) + ")";
}

TEST(ShardSplit, MakesTheTreeOfRunsOfAnyWorkers) {
  rc::check([] {
    const int64_t shards = *rc::gen::inRange(1, 40);
    const ShardSplit split{shards, *rc::gen::inRange<int64_t>(1, shards + 1), *rc::gen::inRange<int64_t>(1, shards + 1),
                           0};
    const auto runs = split.all_runs();
    std::vector<std::string> items;
    int64_t next = 0;
    for (const Range& run : runs) {
      RC_ASSERT(run.first == next);
      next += run.count;
      items.push_back(tree(run.first, run.count));
    }
    RC_ASSERT(next == split.present);
    combine_runs(runs, items, [](std::string& a, const std::string& b) { a = "(" + a + "+" + b + ")"; });
    RC_ASSERT(items[0] == tree(0, split.present));
  });
}

TEST(ShardSplit, GivesEachWorkerItsShards) {
  const ShardSplit split{8, 7, 3, 1};
  const auto texts = [&](int64_t worker) {
    std::string text;
    for (const Range& run : split.runs(worker))
      text += std::to_string(run.first) + ":" + std::to_string(run.count) + " ";
    return text;
  };
  EXPECT_EQ(texts(0), "0:2 2:1 ");
  EXPECT_EQ(texts(1), "3:1 4:2 ");
  EXPECT_EQ(texts(2), "6:1 ");
  EXPECT_EQ((ShardSplit{8, 7, 1, 0}.runs(0).size()), 1u);
}

TEST(AllReduce, RefusesWhatDoesNotFit) {
  const TensorSpec x{DType::f32, {3}, {}, {}}, y{DType::f32, {4}, {}, {}};
  const Attributes two_runs = ShardSplit{8, 8, 3, 0}.attributes();
  EXPECT_NE(infer_error("all_reduce", two_runs, {x}).find("one partial for each of its runs"), std::string::npos);
  EXPECT_NE(infer_error("all_reduce", two_runs, {x, y}).find("one partial for each of its runs"), std::string::npos);
  EXPECT_NE(infer_error("all_reduce", ShardSplit{2, 2, 3, 0}.attributes(), {x}).find("these shards cannot be split"),
            std::string::npos);
  EXPECT_NE(infer_error("all_reduce", kAlone.attributes(), {{DType::i32, {3}, {}, {}}}).find("i32"), std::string::npos);
}

TEST(AllReduce, NeedsItsPool) {
  const Tensor part = Tensor::zeros({3});
  const std::string text = error_text(
      [&] { all_reduce(std::vector<Tensor>{part}, ShardSplit{2, 2, 2, 0}, {"model.cpp", 7}).to_vector<float>(); });
  EXPECT_NE(text.find("this was recorded for a worker of a pool, and runs outside of it"), std::string::npos) << text;
}

}  // namespace
}  // namespace retrace
