#include "retrace/experiment/parallel_svg.h"

#include <gtest/gtest.h>

#include <limits>

#include "retrace/base/error.h"

namespace retrace {
namespace {

size_t count(const std::string& text, const std::string& part) {
  size_t found = 0;
  for (size_t at = text.find(part); at != std::string::npos; at = text.find(part, at + 1)) ++found;
  return found;
}

TEST(ParallelSvg, HasALineForEachTrialWithAValue) {
  TrialTable table{"accuracy", true, {}};
  for (int i = 0; i < 5; ++i) {
    TrialRecord trial{.number = i + 1, .state = TrialState::finished};
    trial.parameters = {
        {"training.rate", 0.001 * (i + 1)}, {"kind", std::string(i % 2 ? "<b>" : "a")}, {"other.kind", int64_t{i}}};
    trial.value = i == 2 ? std::numeric_limits<double>::quiet_NaN() : 0.5 + 0.1 * i;
    table.trials.push_back(trial);
  }
  const std::string svg = parallel_svg(table);
  EXPECT_EQ(count(svg, "<polyline"), 4u);
  EXPECT_EQ(count(svg, "#dc2626"), 1u);  // the best one
  EXPECT_EQ(count(svg, ">rate<"), 1u);
  EXPECT_EQ(count(svg, ">kind<") + count(svg, ">other.kind<"), 2u);  // one short name would stand for both
  EXPECT_EQ(count(svg, "&lt;b&gt;"), 1u);
  EXPECT_EQ(count(svg, "<b>"), 0u);
  for (auto& trial : table.trials) trial.state = TrialState::failed;
  EXPECT_THROW(parallel_svg(table), Error);
}

}  // namespace
}  // namespace retrace
