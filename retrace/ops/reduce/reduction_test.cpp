// sum and moments against the literal reference, bit for bit: every rule, target, thread count, and with and without a
// source, or with one of products.
#include "retrace/ops/reduce/reduction.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <bit>
#include <random>

#include "retrace/device/cpu/threads.h"
#include "retrace/ops/testing/reduce_reference.h"
#include "tests/tested_targets.h"

namespace retrace {
namespace {

struct Problem {
  Shape shape, axes;
  std::vector<float> x;
  std::vector<float> a, b;  // x[i] = a[i] * b[i], if there are any
};

// Numbers of very different size, so that every other order of additions shows.
std::vector<float> wild_numbers(int64_t count, uint32_t seed) {
  std::mt19937 random(seed);
  std::vector<float> x(static_cast<size_t>(count));
  for (float& v : x) {
    const float mantissa = 1 + static_cast<float>(random() >> 8) * 0x1p-24f;
    const int exponent = static_cast<int>(random() % 24) - 12;
    v = std::ldexp(random() & 1 ? mantissa : -mantissa, exponent);
  }
  return x;
}

Problem make(const Shape& shape, const Shape& axes, uint32_t seed) {
  return {shape, axes, wild_numbers(shape.count(), seed), {}, {}};
}

class ArraySource : public TileSource {
 public:
  explicit ArraySource(const std::vector<float>& x) : x_(x) {}
  void load(int64_t begin, int64_t count, float* to) const override {
    ensure(begin >= 0 && count > 0 && begin + count <= static_cast<int64_t>(x_.size()),
           "a source is asked for what it has");
    std::copy_n(x_.begin() + begin, count, to);
  }

 private:
  const std::vector<float>& x_;
};

// Of products whose second factors are made.
class PairSource final : public FactorSource {
 public:
  explicit PairSource(const Problem& problem) : problem_(problem) {}
  void load(int64_t begin, int64_t count, float* to) const override { ArraySource(problem_.x).load(begin, count, to); }
  Factors factors(int64_t begin, int64_t count, float* made) const override {
    ArraySource(problem_.b).load(begin, count, made);
    return {problem_.a.data() + begin, made};
  }

 private:
  const Problem& problem_;
};

using Results = std::vector<std::vector<float>>;

Results run_kernel(const char* name, const Problem& problem, const TileSource* source) {
  const Op& op = find_op(name);
  const Attributes attributes{{"axes", problem.axes}, {"keep", int64_t{0}}};
  const std::vector<TensorSpec> in{{DType::f32, problem.shape, {}, {}}};
  const InferCall infer{op, attributes, in, {}};
  const auto specs = op.infer(infer);
  std::vector<char> workspace(static_cast<size_t>(op.workspace(infer)));
  Results results;
  std::vector<KernelOutput> outputs;
  for (const auto& spec : specs) results.emplace_back(static_cast<size_t>(spec.count()), 12345.0f);
  for (size_t i = 0; i < specs.size(); ++i) outputs.push_back({results[i].data(), &specs[i]});
  const KernelInput input{source ? nullptr : problem.x.data(), in.data()};
  op.kernel({attributes, std::span(&input, 1), outputs, workspace.data(), nullptr, source});
  return results;
}

Results expected_sums(const Problem& problem, bool by_column) {
  Results results(1);
  for (const auto& group : reference::groups(problem.x, problem.shape, problem.axes))
    results[0].push_back(by_column ? reference::column_sum(group) : reference::row_sum(group));
  return results;
}

Results expected_moments(const Problem& problem, bool by_column) {
  Results results(2);
  for (const auto& group : reference::groups(problem.x, problem.shape, problem.axes)) {
    const auto pair = by_column ? reference::column_moments(group) : reference::row_moments(group);
    results[0].push_back(pair.mean);
    results[1].push_back(pair.m2);
  }
  return results;
}

std::string difference(const Results& is, const Results& wanted) {
  for (size_t k = 0; k < wanted.size(); ++k) {
    if (is[k].size() != wanted[k].size()) return fmt::format("output {} has {} elements", k, is[k].size());
    for (size_t i = 0; i < wanted[k].size(); ++i) {
      const float a = is[k][i], b = wanted[k][i];
      if (std::bit_cast<uint32_t>(a) != std::bit_cast<uint32_t>(b) && !(a != a && b != b))
        return fmt::format("output {} element {}: {:a}, not {:a}", k, i, a, b);
    }
  }
  return "";
}

void check(const Problem& problem) {
  const bool by_column = !problem.axes.contains(problem.shape.rank() - 1);
  const auto sums = expected_sums(problem, by_column), moments = expected_moments(problem, by_column);
  const SimdTarget target_before = simd_target();
  const int threads_before = thread_count();
  for (const SimdTarget target : tested_targets()) {
    set_simd_target(name_of(target));
    for (int threads = 1; threads <= 3; ++threads) {
      set_thread_count(threads);
      const ArraySource array(problem.x);
      const PairSource pairs(problem);
      for (const TileSource* source : std::initializer_list<const TileSource*>{nullptr, &array, &pairs}) {
        if (source == &pairs && problem.a.empty()) continue;
        const auto what = fmt::format("{} over {}, {}, {} threads{}", problem.shape.text(), problem.axes.text(),
                                      name_of(target), threads,
                                      source == &pairs ? ", from factors"
                                      : source         ? ", from a source"
                                                       : "");
        EXPECT_EQ(difference(run_kernel("sum", problem, source), sums), "") << "sum of " << what;
        if (source == &pairs) continue;
        EXPECT_EQ(difference(run_kernel("moments", problem, source), moments), "") << "moments of " << what;
      }
    }
  }
  set_simd_target(name_of(target_before));
  set_thread_count(threads_before);
}

constexpr int64_t kSizes[] = {0, 1, 2, 15, 16, 17, 31, 33, 64, 65, 255, 256, 257, 1023, 4096 + 5, 100000};

TEST(Reduce, ColumnsHaveTheBitsOfTheContract) {
  for (int64_t size : kSizes)
    for (int64_t channels : {1, 3, 5, 8, 10, 16, 17, 32, 40, 64, 100, 300})
      if (size * channels < 600'000 || channels == 16)
        check(make({size, channels}, {0}, static_cast<uint32_t>(size + channels)));
}

TEST(Reduce, RowsHaveTheBitsOfTheContract) {
  for (int64_t size : kSizes) {
    check(make({1, size}, {1}, static_cast<uint32_t>(size)));
    check(make({7, size}, {1}, static_cast<uint32_t>(size) + 1));
    check(make({size}, {0}, static_cast<uint32_t>(size) + 2));
    if (size <= 1023) check(make({37, size}, {1}, static_cast<uint32_t>(size) + 3));  // 16 rows at once
  }
  check(make({3000, 10}, {1}, 3));
  check(make({5, 7, 64}, {0, 1, 2}, 4));
}

TEST(Reduce, AxesMayLieAnywhere) {
  const Shape shape{4, 37, 3, 11};
  for (const Shape& axes : {Shape{0}, Shape{1}, Shape{2}, Shape{3}, Shape{0, 2}, Shape{1, 2}, Shape{0, 1, 2},
                            Shape{0, 3}, Shape{1, 3}, Shape{0, 2, 3}, Shape{2, 3}})
    check(make(shape, axes, 17));
  check(make({3, 1, 50, 1, 6}, {0, 2}, 18));  // sizes of 1 between the axes
  check(make({400, 70, 2, 3}, {0, 2}, 19));
  check(make({3000, 4, 5}, {1}, 20));  // many small ones in one piece
  check(make({40, 1}, {0}, 21));
  check(make({40, 1}, {1}, 22));
  check(make({0, 4, 3}, {1}, 23));
  check(make({4, 0, 3}, {1}, 24));
  check(make({33, 5000}, {0}, 25));  // wide: in parts by channel
}

TEST(Reduce, AFewPositionsBeforeManyChannels) {
  for (int64_t positions : {1, 2, 3, 10, 15, 16, 17})
    for (int64_t channels : {2, 7, 16, 24, 33, 64, 116, 300})
      check(make({positions < 4 ? 130 : 9, positions, channels}, {1}, static_cast<uint32_t>(positions + channels)));
  check(make({3, 2, 5, 2, 24}, {1, 3}, 26));  // in segments
  check(make({5, 3, 7, 40}, {0, 2}, 27));     // what is kept lies at uneven distances
  check(make({3, 4, 5, 6, 33}, {1, 3}, 28));
}

TEST(Reduce, RowsInEvenSegmentsAreReadWhereTheyLie) {
  for (int64_t length : {4, 8, 12, 16, 32})
    for (int64_t segments : {1, 2, 3, 31, 64, 67, 300})
      check(make({3, segments, 4, length}, {1, 3}, static_cast<uint32_t>(segments + length)));
  check(make({2, 5000, 3, 8}, {1, 3}, 29));  // more than a run
  check(make({2, 2500, 3, 16}, {1, 3}, 30));
  check(make({3, 5, 2, 7, 2, 8}, {1, 3, 5}, 31));  // segments of segments
}

TEST(Reduce, SumsMultiplyFactorsThemselves) {
  const auto check_products = [](const Shape& shape, const Shape& axes, uint32_t seed) {
    Problem problem{shape, axes, {}, wild_numbers(shape.count(), seed), wild_numbers(shape.count(), seed + 1)};
    for (size_t i = 0; i < problem.a.size(); ++i) problem.x.push_back(problem.a[i] * problem.b[i]);
    check(problem);
  };
  for (int64_t size : {1, 3, 15, 16, 17, 86, 255, 256, 257, 1000, 4101}) {
    check_products({37, size}, {1}, 41);
    check_products({size, 37}, {0}, 42);
    check_products({size, 64}, {0}, 43);
    check_products({7, size, 5}, {1}, 44);
    check_products({size, 1}, {0}, 45);
  }
  check_products({100'000}, {0}, 46);
  check_products({33, 300}, {0}, 47);
  check_products({3, 7, 5, 11}, {1, 3}, 48);  // in segments: products come from load()
}

TEST(Reduce, InfinitiesNanZerosAndSubnormalNumbersArePassedOn) {
  constexpr float infinity = __builtin_huge_valf();
  for (const Shape& shape : {Shape{300, 3}, Shape{3, 300}, Shape{40, 17}}) {
    for (float special : {infinity, -infinity, __builtin_nanf(""), -0.0f, 0x1p-149f, 3e38f}) {
      for (const Shape& axes : {Shape{0}, Shape{1}}) {
        Problem problem = make(shape, axes, 5);
        for (size_t i = 7; i < problem.x.size(); i += 101) problem.x[i] = special;
        check(problem);
        std::fill(problem.x.begin(), problem.x.end(), special);
        check(problem);
      }
    }
  }
}

TEST(Reduce, TheRuleIsTheOneOfTheAxesNotOfTheSizes) {
  // A column of 256 and a row of 256 are the same numbers in another order of additions.
  int different = 0;
  for (uint32_t seed = 0; seed < 20; ++seed) {
    const Problem column = make({256, 1}, {0}, seed), row = make({1, 256}, {1}, seed);
    ASSERT_EQ(column.x, row.x);
    different += !difference(run_kernel("sum", column, nullptr), run_kernel("sum", row, nullptr)).empty();
  }
  EXPECT_GT(different, 5);
}

}  // namespace
}  // namespace retrace
