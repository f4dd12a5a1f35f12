#include "retrace/experiment/importance.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

namespace retrace {
namespace {

// 60 trials of f(a, b, c), with a and b from a grid, c of three texts.
TrialTable table_of(double (*f)(double a, double b, int c)) {
  TrialTable table{"loss", false, {}};
  for (int i = 0; i < 60; ++i) {
    const double a = (i * 7 % 60) / 60.0, b = std::pow(10.0, -(i * 11 % 60) / 15.0);
    const int c = i % 3;
    TrialRecord trial{.number = i + 1, .state = TrialState::finished};
    trial.parameters = {{"a", a}, {"rate", b}, {"kind", std::string(c == 0 ? "x" : c == 1 ? "y" : "z")}};
    trial.value = f(a, std::log10(b), c);
    table.trials.push_back(trial);
  }
  return table;
}

TEST(Importance, IsLargeForWhatMatters) {
  auto found = importance(table_of([](double, double rate, int) { return rate * rate; }));
  ASSERT_EQ(found.size(), 3u);
  EXPECT_EQ(found[0].parameter, "rate");
  EXPECT_GT(found[0].share, 0.9);
  EXPECT_LT(found[1].share, 0.05);
  found = importance(table_of([](double a, double, int c) { return a + 3 * c; }));
  EXPECT_EQ(found[0].parameter, "kind");
  EXPECT_GT(found[0].share, 0.7);
  EXPECT_EQ(found[1].parameter, "a");
  EXPECT_GT(found[1].share, 0.03);
  EXPECT_LT(found[1].share, found[0].share);
}

TEST(Importance, OfParametersThatActTogetherIsSmall) {
  const auto found = importance(table_of([](double a, double rate, int) { return (a - 0.5) * (rate + 2); }));
  for (const auto& one : found) EXPECT_LT(one.share, 0.4) << one.parameter;
}

TEST(Importance, NeedsResultsThatDiffer) {
  TrialTable table = table_of([](double, double, int) { return 1.0; });
  EXPECT_TRUE(importance(table).empty());
  table = table_of([](double a, double, int) { return a; });
  for (size_t i = 4; i < table.trials.size(); ++i) table.trials[i].value = std::numeric_limits<double>::quiet_NaN();
  EXPECT_TRUE(importance(table).empty());
}

}  // namespace
}  // namespace retrace
