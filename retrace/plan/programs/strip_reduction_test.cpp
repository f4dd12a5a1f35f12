#include "retrace/plan/programs/strip_reduction.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <bit>
#include <random>

#include "retrace/ops/op.h"
#include "retrace/plan/compile.h"
#include "retrace/plan/pass.h"
#include "retrace/trace/text.h"

namespace retrace {
namespace {

using Bits = std::vector<std::vector<uint32_t>>;

struct ReductionCase {
  int64_t positions, channels;
  std::string op;
  bool prologue;

  // One reduction of an array, or of its product with a number for each channel.
  Trace trace() const {
    const std::string array = fmt::format("f32[{},{}]", positions, channels);
    const std::string results = op == "moments" ? "%3, %4" : "%3";
    const Trace plain = parse_trace(
        fmt::format("%0 = input {}\n%1 = input f32[{}]\n%2 = multiply(%0, %1)\n{} = {}(%{}) {{axes=[0], keep=0}}\n"
                    "return {}\n",
                    array, channels, results, op, prologue ? 2 : 0, results),
        op_table());
    const auto passes = all_passes();
    const auto pass =
        std::find_if(passes.begin(), passes.end(), [](const Pass& p) { return p.name == "fuse_prologues"; });
    return pass->run(without_dead(plain), {});
  }
};

class Pieces {
 public:
  Pieces(const ReductionCase& one, uint32_t seed) : trace_(one.trace()), random_(seed) {
    const auto number = [&] { return random_() % 64 == 0 ? -0.0f : static_cast<float>(random_() % 2001) / 100 - 3; };
    array_.resize(static_cast<size_t>(one.positions * one.channels));
    numbers_.resize(static_cast<size_t>(one.channels));
    std::generate(array_.begin(), array_.end(), number);
    std::generate(numbers_.begin(), numbers_.end(), number);
    if (seed % 3 == 0) array_[random_() % array_.size()] = INFINITY;
  }

  Bits by_op() {
    const auto plan = make_plan(trace_);
    auto results = room();
    std::vector<void*> out;
    for (auto& result : results) out.push_back(result.data());
    const void* in[] = {array_.data(), numbers_.data()};
    plan->run(in, out.data());
    return bits(results);
  }

  // By ranges of any lengths in any order, and elements that are final only then.
  Bits by_ranges(int64_t longest) {
    const StripReduction work(trace_, trace_.nodes[0]);
    std::vector<float> array(array_.size(), NAN);
    const void* in[] = {array.data(), numbers_.data()};
    std::vector<std::byte> bytes(work.workspace_bytes() + 64);
    void* space = bytes.data();
    size_t size = bytes.size();
    std::align(64, work.workspace_bytes(), space, size);
    work.prepare(in, space);
    std::vector<std::pair<size_t, size_t>> ranges;
    for (size_t at = 0; at < array.size(); at = ranges.back().second)
      ranges.emplace_back(at, std::min(array.size(), at + 1 + random_() % static_cast<size_t>(longest)));
    std::shuffle(ranges.begin(), ranges.end(), random_);
    for (const auto& [begin, end] : ranges) {
      std::copy(array_.begin() + static_cast<long>(begin), array_.begin() + static_cast<long>(end),
                array.begin() + static_cast<long>(begin));
      work.add(static_cast<int64_t>(begin), static_cast<int64_t>(end), in, space);
    }
    auto results = room();
    std::vector<void*> out;
    for (auto& result : results) out.push_back(result.data());
    work.finish(in, out.data(), space);
    return bits(results);
  }

 private:
  std::vector<std::vector<float>> room() const {
    return std::vector<std::vector<float>>(static_cast<size_t>(trace_.nodes[0].output_count),
                                           std::vector<float>(numbers_.size()));
  }
  static Bits bits(const std::vector<std::vector<float>>& results) {
    Bits bits;
    for (const auto& result : results) {
      bits.emplace_back();
      for (float x : result) bits.back().push_back(std::isnan(x) ? 0x7fc00000u : std::bit_cast<uint32_t>(x));
    }
    return bits;
  }

  Trace trace_;
  std::mt19937 random_;
  std::vector<float> array_, numbers_;
};

TEST(StripReduction, AnyRangesGiveTheBitsOfTheOp) {
  uint32_t seed = 0;
  for (const int64_t positions : {1, 15, 16, 17, 48, 196, 1000, 2048})
    for (const int64_t channels : {1, 3, 8, 16, 24, 40, 100, 256})
      for (const std::string op : {"sum", "moments"})
        for (const bool prologue : {false, true}) {
          SCOPED_TRACE(fmt::format("{} of {} x {}, prologue {}", op, positions, channels, prologue));
          Pieces pieces({positions, channels, op, prologue}, ++seed);
          const auto expected = pieces.by_op();
          EXPECT_EQ(pieces.by_ranges(positions * channels), expected);
          EXPECT_EQ(pieces.by_ranges(channels * 40), expected);
          EXPECT_EQ(pieces.by_ranges(std::max<int64_t>(1, positions * channels / 7)), expected);
        }
}

TEST(StripReduction, SaysWhatItLeavesToTheOp) {
  const auto refusal = [](const std::string& shape, const std::string& axes) {
    const Trace trace = parse_trace(
        fmt::format("%0 = input {}\n%1 = sum(%0) {{axes={}, keep=0}}\nreturn %1\n", shape, axes), op_table());
    return StripReduction::refusal(trace, trace.nodes[0], 3 << 20);
  };
  EXPECT_EQ(refusal("f32[512,64,128]", "[0,1]"), "");
  EXPECT_EQ(refusal("f32[8,64,64]", "[1]"), "it is not a sum over all positions");
  EXPECT_EQ(refusal("f32[8,64,64]", "[1,2]"), "it is not a sum over all positions");
  EXPECT_EQ(refusal("f64[8,64,64]", "[0,1]"), "it is not a sum over positions");
  EXPECT_EQ(refusal("f32[8,64,512]", "[0,1]"), "there are too many channels");
  EXPECT_EQ(refusal("f32[8,8,8]", "[0,1]"), "it is small");
}

}  // namespace
}  // namespace retrace
