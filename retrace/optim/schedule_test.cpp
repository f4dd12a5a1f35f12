#include "retrace/optim/schedule.h"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <gtest/gtest.h>

#include "retrace/base/error.h"
#include "retrace/optim/schedule_kind.h"

namespace retrace {
namespace {

double rate(const Schedule& schedule, const ScheduleStep& at) { return learn_rate(0.8, schedule)(at); }

TEST(Schedule, NoneKeepsTheRate) { EXPECT_EQ(rate({}, {.iteration = 7, .iterations = 9, .epoch = 3}), 0.8); }

TEST(Schedule, LinearFallsToZeroOverAllIterations) {
  EXPECT_EQ(rate({"linear"}, {.iteration = 1, .iterations = 4}), 0.8 * 0.75);
  EXPECT_EQ(rate({"linear"}, {.iteration = 3, .iterations = 4}), 0.8 * 0.25);
}

TEST(Schedule, PiecewiseDropsAfterWholePeriods) {
  const Schedule drops{"piecewise", {{"drop_factor", 0.5}, {"drop_period", 2}}};
  EXPECT_EQ(rate(drops, {.epoch = 2}), 0.8);
  EXPECT_EQ(rate(drops, {.epoch = 3}), 0.4);
  EXPECT_EQ(rate(drops, {.epoch = 4}), 0.4);
  EXPECT_EQ(rate(drops, {.epoch = 5}), 0.2);
}

TEST(Schedule, CyclicRisesAndFalls) {
  const Schedule cyclic{"cyclic", {{"max_factor", 5}, {"cycle_iterations", 8}}};
  const double expected[] = {0.8, 1.6, 2.4, 3.2, 4.0, 3.2, 2.4, 1.6, 0.8, 1.6};
  for (int64_t i = 0; i < 10; ++i) EXPECT_DOUBLE_EQ(rate(cyclic, {.iteration = i, .iterations = 10}), expected[i]) << i;
}

TEST(Schedule, ComposedIsOneAfterTheOther) {
  const LearnRate both =
      composed(learn_rate(0.8, {"warm-up", {{"warm_up_iterations", 4}}}), 4, learn_rate(0.8, {"linear"}));
  const double expected[] = {0.2, 0.4, 0.6, 0.8, 0.8, 0.6, 0.4, 0.2};
  for (int64_t i = 0; i < 8; ++i)
    EXPECT_DOUBLE_EQ(both({.iteration = i, .iterations = 8, .epoch = 1}), expected[i]) << i;
  const LearnRate epochs = composed(both, 0, [](const ScheduleStep& at) { return static_cast<double>(at.epoch); });
  EXPECT_EQ(epochs({.iteration = 3, .iterations = 8, .epoch = 2}), 2);
  EXPECT_THROW(composed(both, -1, both), Error);
}

// A text of several is composed() of each, with the rest of the iterations for the last.
TEST(Schedule, SeveralNamesAreOneAfterTheOther) {
  const LearnRate warm = learn_rate(0.8, {"warm-up", {{"warm_up_iterations", 4}}});
  const LearnRate expected = composed(warm, 4, learn_rate(0.8, {"cosine", {{"final_factor", 0.125}}}));
  const LearnRate found = learn_rate(0.8, {"warm-up, cosine", {{"warm_up_iterations", 4}, {"final_factor", 0.125}}});
  const LearnRate given = learn_rate(
      0.8, {"warm-up,cosine",
            {{"warm_up_iterations", 4}, {"final_factor", 0.125}, {"schedule_iterations", std::vector<int64_t>{4}}}});
  for (int64_t i = 0; i < 20; ++i) {
    const ScheduleStep at{.iteration = i, .iterations = 20, .epoch = 1 + i / 5};
    EXPECT_EQ(found(at), expected(at)) << i;
    EXPECT_EQ(given(at), expected(at)) << i;
  }
  const double by_hand[] = {0.2, 0.4, 0.6, 0.8, 0.8};  // the cosine begins at the whole rate
  for (int64_t i = 0; i < 5; ++i) EXPECT_DOUBLE_EQ(found({.iteration = i, .iterations = 20}), by_hand[i]);
  // The middle of its half cosine: 4 + 16 / 2 iterations are over.
  EXPECT_DOUBLE_EQ(found({.iteration = 12, .iterations = 20}), 0.8 * (0.125 + 0.875 / 2));
}

TEST(Schedule, OneMayFollowItself) {
  const LearnRate falls =
      learn_rate(0.8, {"linear, linear, none", {{"schedule_iterations", std::vector<int64_t>{2, 4}}}});
  const double expected[] = {0.8, 0.4, 0.8, 0.6, 0.4, 0.2, 0.8, 0.8};
  for (int64_t i = 0; i < 8; ++i) EXPECT_DOUBLE_EQ(falls({.iteration = i, .iterations = 8}), expected[i]) << i;
}

std::string text_of_error(const Schedule& schedule) {
  try {
    learn_rate(0.1, schedule, Place{"train.cpp", 4});
  } catch (const Error& error) {
    return error.what();
  }
  return "no error";
}

TEST(Schedule, ALengthThatIsMissingIsNamed) {
  EXPECT_EQ(text_of_error({"warm-up, linear, cosine"}),
            "error[RT0391]: the schedule \"linear\" has no length of its own\n"
            "  where:    train.cpp:4\n"
            "  got:      \"warm-up, linear, cosine\"\n"
            "  help:     set schedule_iterations: the iterations of each schedule but the last");
  EXPECT_EQ(text_of_error({"warm-up, linear", {{"schedule_iterations", std::vector<int64_t>{7, 8}}}}),
            "error[RT0390]: schedule_iterations has not one number for each schedule but the last\n"
            "  where:    train.cpp:4\n"
            "  got:      [7, 8]\n"
            "  expected: 1 for \"warm-up, linear\"");
  EXPECT_NE(text_of_error({"warm-up, linaer"}).find("did you mean \"linear\"?"), std::string::npos);
  EXPECT_NE(text_of_error({"warm-up,"}).find("there is no schedule \"\""), std::string::npos);
  EXPECT_NE(text_of_error({"cosine", {{"schedule_iterations", std::vector<int64_t>{7}}}}).find("has no option"),
            std::string::npos);
}

TEST(Schedule, AnUnknownOneOrOptionIsNamed) {
  std::string text;
  try {
    learn_rate(0.1, {"linaer"}, Place{"train.cpp", 4});
  } catch (const Error& error) {
    text = error.what();
  }
  std::vector<std::string> names;
  for (const auto& schedule : all_schedules()) names.push_back(schedule.name);
  EXPECT_EQ(text, fmt::format("error[RT0196]: there is no schedule \"linaer\"\n"
                              "  where:    train.cpp:4\n"
                              "  expected: {}\n"
                              "  help:     did you mean \"linear\"?",
                              fmt::join(names, ", ")));
  EXPECT_THROW(learn_rate(0.1, {"linear", {{"drop_period", 2}}}), Error);
}

}  // namespace
}  // namespace retrace
