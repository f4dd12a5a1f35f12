// The order of a fused chain's nodes, and the bits of chains whose rules follow each other in registers.
#include "retrace/plan/programs/chain_order.h"

#include "tests/chain_testing.h"
#include "tests/tested_targets.h"

namespace retrace {
namespace {

ValueId add_rule(Trace& body, const char* op, std::vector<ValueId> inputs) {
  const TensorSpec spec = body.spec(inputs[0]);
  Node node;
  node.op = &find_op(op);
  node.inputs = std::move(inputs);
  return body.add_node(std::move(node), std::span(&spec, 1));
}

TEST(ChainOrder, ReadersComeNextWhereTheyCan) {
  Trace body;
  const TensorSpec spec{DType::f32, {100}, {}, {}};
  const ValueId x = body.add_input(spec), y = body.add_input(spec);
  const ValueId a = add_rule(body, "subtract", {x, y}), b = add_rule(body, "exp", {y});
  const ValueId c = add_rule(body, "abs", {a}), d = add_rule(body, "multiply", {b, c});
  const ValueId e = add_rule(body, "multiply", {a, a});
  body.outputs = {add_rule(body, "add", {d, e})};
  const auto order = chain_order(body);
  std::vector<size_t> nodes;
  std::string follows;
  for (const OrderedNode& each : order) {
    nodes.push_back(each.node);
    follows += each.follows ? '+' : each.joins ? '|' : '.';
  }
  // a, abs; exp, which is no link; then what waited for it, and the square of a, which needs a load again.
  EXPECT_EQ(nodes, (std::vector<size_t>{0, 2, 1, 3, 4, 5}));
  EXPECT_EQ(follows, ".+..|+");
  EXPECT_EQ(order[5].position, 1);
  EXPECT_EQ(order[4].position, -1);
}

class ChainsInRegisters : public ChainFixture<testing::Test> {};

// Rows that end within, at and behind the end of a tile, with numbers of a row, of a column and of all; values that
// several rules read; choices and comparisons.
TEST_F(ChainsInRegisters, HaveTheBitsOfTheirOps) {
  for (const int64_t row : {5, 9, 10, 16, 64, 86, 255, 256, 300, 1000, 1100, 2100}) {
    const int64_t count = row < 256 ? 150 : 7;
    const Shape shape{count, row};
    const Tensor x = with_special(numbers(shape, "x"), 41), y = numbers(shape, "y"),
                 each = numbers(Shape{count, 1}, "each"), other = numbers(Shape{count, 1}, "other"),
                 column = numbers(Shape{row}, "column");
    const auto results = [&] {
      const Tensor d = x - y, size = abs(d);
      Bits bits;
      add_bits(bits, (x - each) * other * column + column);
      add_bits(bits, where(less_equal(size, each), d * d * 0.5f, size - 0.5f));
      add_bits(bits, exp(x - each) * (y - other) - each * d);
      add_bits(bits, other - sqrt(size / each) * where(greater(x, other), each, d));
      add_bits(bits, maximum(x, each) * each);
      add_bits(bits, each * exp(x - other));
      add_bits(bits, exp(other - y) * each + exp(y - 0.5f) * column);
      // More values are read again than are kept in registers; one is a result, and one is read behind another run.
      const Tensor a = x * y, b = a + column, c = b - x, e = c * a;
      add_bits(bits, where(less(a, c), where(greater(b, y), e, c), where(less_equal(e, b), a, size)) / (a - e));
      add_bits(bits, e);
      add_bits(bits, exp(c) * (a + d) - where(less(c, d), a, e));
      return bits;
    };
    const auto fused = results();
    set_passes_off({"fuse_pointwise", "fuse_lines", "fuse_prologues"});
    const auto apart = results();
    set_passes_off({});
    ASSERT_EQ(fused, apart) << row;
  }
}

// Of two chains that read the same arrays, in pieces of different sizes.
TEST_F(ChainsInRegisters, HaveTheirBitsSideBySide) {
  const Tensor x = with_special(numbers(Shape{50'001}, "x"), 41), y = numbers(Shape{50'001}, "y");
  const auto f = [](const Tensor& a, const Tensor& b) {
    const Tensor d = a - b, size = abs(d);
    Tree made;
    made["long"] = where(less_equal(size, b), d * d * 0.5f, size * a - 0.5f) / (d + 3) + b * d;
    made["short"] = abs(a);
    return made;
  };
  const auto bits_of = [](const Tree& made) {
    Bits bits;
    for (const auto& [name, tensor] : leaves(made)) add_bits(bits, tensor);
    return bits;
  };
  set_passes_off({"fuse_pointwise"});
  const Bits apart = bits_of(f(x, y));
  set_passes_off({});
  set_plan_cache_enabled(true);
  EXPECT_NE(explain(f, x, y).find("and at the same time"), std::string::npos);
  for (const int threads : {1, 2, 3}) {
    set_thread_count(threads);
    EXPECT_EQ(bits_of(accelerate(f)(x, y)), apart) << threads;
  }
}

TEST_F(ChainsInRegisters, SumsOfProductsKeepTheirBits) {
  const Tensor x = with_special(numbers(Shape{40, 300}, "x"), 4001), y = numbers(Shape{40, 300}, "y"),
               each = numbers(Shape{40, 1}, "each"), column = numbers(Shape{300}, "column"),
               other = numbers(Shape{300}, "other");
  const auto results = [&] {
    Bits bits;
    for (const int axis : {0, 1}) {
      add_bits(bits, sum(x * y, axis));
      add_bits(bits, sum(square(x), axis));
      add_bits(bits, sum((x - y) * (x - y), axis));
      add_bits(bits, sum(exp(y) * x, axis));
      add_bits(bits, sum((x * column + other) * y, axis));  // patterns
      add_bits(bits, sum(x * each, axis));                  // a factor that is no array
      add_bits(bits, sum((x - y) * exp(y), axis));          // two that are made
    }
    return bits;
  };
  const auto fused = results();
  set_passes_off({"fuse_prologues"});
  EXPECT_EQ(fused, results());
}

}  // namespace
}  // namespace retrace
