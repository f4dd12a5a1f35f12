#include "retrace/plan/passes/groups.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <random>
#include <set>

#include "retrace/ops/operators.h"
#include "retrace/plan/compile.h"
#include "retrace/trace/record.h"

namespace retrace {
namespace {

// Nodes that read one to three of the values before them, rather the last ones.
Trace random_trace(size_t nodes, std::mt19937& random) {
  Trace trace;
  trace.add_input({});
  for (size_t n = 0; n < nodes; ++n) {
    Node node;
    for (uint32_t k = random() % 3 + 1; k > 0; --k) {
      const size_t back = random() % (random() % 4 == 0 ? n + 1 : std::min<size_t>(n + 1, 6));
      node.inputs.push_back(static_cast<ValueId>(n - back));
    }
    const TensorSpec spec;
    trace.add_node(std::move(node), std::span(&spec, 1));
  }
  return trace;
}

// By definition: whether a group reads the source, or a group that needs it, other than itself.
bool needs_through_third(const Groups& groups, size_t source, size_t reader) {
  std::set<size_t> seen;
  std::vector<size_t> open;
  for (size_t group : groups.sources(reader))
    if (group != source && group != reader) open.push_back(group);
  while (!open.empty()) {
    const size_t group = open.back();
    open.pop_back();
    if (group == source) return true;
    if (!seen.insert(group).second) continue;
    for (size_t other : groups.sources(group)) open.push_back(other);
  }
  return false;
}

TEST(Groups, JoinUnlessTheyNeedEachOtherThroughAThird) {
  std::mt19937 random(1);
  size_t joined = 0, refused = 0;
  for (int round = 0; round < 40; ++round) {
    const Trace trace = random_trace(150, random);
    Groups groups(trace, 64);
    for (int attempt = 0; attempt < 300; ++attempt) {
      const size_t n = random() % trace.nodes.size();
      const auto& inputs = trace.nodes[n].inputs;
      const size_t p = trace.producer_index(inputs[random() % inputs.size()]);
      if (p == kNoNode) continue;
      const size_t source = groups.of(p), reader = groups.of(n);
      const bool fits = groups.members(source).size() + groups.members(reader).size() <= 64;
      const bool wanted = source == reader || (fits && !needs_through_third(groups, source, reader));
      ASSERT_EQ(groups.merge(source, reader).empty(), wanted) << "round " << round << ", attempt " << attempt;
      ASSERT_EQ(groups.of(n) == groups.of(p), wanted);
      ++(wanted ? joined : refused);
    }
    std::set<size_t> done;
    for (size_t group : groups.in_order()) {
      for (size_t source : groups.sources(group)) ASSERT_TRUE(source == group || done.contains(source));
      ASSERT_TRUE(std::is_sorted(groups.members(group).begin(), groups.members(group).end()));
      done.insert(group);
    }
    for (size_t n = 0; n < trace.nodes.size(); ++n) ASSERT_TRUE(done.contains(groups.of(n)));
  }
  EXPECT_GT(joined, 1000u);
  EXPECT_GT(refused, 1000u);
}

// Chains of at most 64 ops, however long the trace is.
TEST(Groups, LongTracesAreFusedAsShortOnes) {
  for (const size_t length : {640u, 32'000u}) {
    RecordingScope scope;
    const Tensor x = scope.recording().add_input({DType::f32, {100}, {}, {}});
    Tensor y = x;
    for (size_t i = 0; i < length; ++i) y = y + x;
    const auto plan = make_plan(scope.recording().take_trace(std::span(&y, 1)));
    EXPECT_EQ(plan->kernel_calls(), length / 64);
  }
}

}  // namespace
}  // namespace retrace
