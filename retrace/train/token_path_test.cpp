#include "retrace/train/token_path.h"

#include <gtest/gtest.h>

#include "retrace/train/metric_kind.h"

namespace retrace {
namespace {

using Path = std::vector<int32_t>;

// Scores whose highest is that of these classes, of 3.
std::vector<float> scores_of_path(const Path& path) {
  std::vector<float> scores(path.size() * 3, -1);
  for (size_t i = 0; i < path.size(); ++i) scores[3 * i + static_cast<size_t>(path[i])] = 0.5f;
  return scores;
}

TEST(TokenPath, LeavesBlanksAndRepetitionsOut) {
  const auto said = [](const Path& path) { return best_path(scores_of_path(path), 3); };
  EXPECT_EQ(said({0, 0, 0}), Path());
  EXPECT_EQ(said({1, 1, 1, 2, 2, 1}), (Path{1, 2, 1}));
  EXPECT_EQ(said({1, 0, 1, 0, 0, 2}), (Path{1, 1, 2}));
  EXPECT_EQ(best_path(std::vector<float>{0, 0, 0, 0, 1, 1}, 3), Path{1});  // the first of equal scores
  EXPECT_EQ(best_path({}, 3), Path());
}

TEST(TokenPath, CountsEdits) {
  EXPECT_EQ(edit_distance(Path{}, Path{}), 0);
  EXPECT_EQ(edit_distance(Path{1, 2, 3}, Path{}), 3);
  EXPECT_EQ(edit_distance(Path{}, Path{1, 2}), 2);
  EXPECT_EQ(edit_distance(Path{1, 2, 3}, Path{1, 2, 3}), 0);
  EXPECT_EQ(edit_distance(Path{1, 2, 3}, Path{1, 3}), 1);
  EXPECT_EQ(edit_distance(Path{1, 3}, Path{1, 2, 3}), 1);
  EXPECT_EQ(edit_distance(Path{1, 2, 3}, Path{3, 2, 1}), 2);
  EXPECT_EQ(edit_distance(Path{7, 8, 9, 9, 8, 6}, Path{5, 8, 9, 9, 8, 6, 4}), 2);
}

TEST(TokenPath, TheRateIsThatOfAllTokens) {
  const MetricKind& metric = kind_of(all_metrics(), "token-error-rate", "metric", {});
  std::vector<float> scores = scores_of_path({1, 0, 2});
  const auto second = scores_of_path({0, 2, 2});
  scores.insert(scores.end(), second.begin(), second.end());
  const auto numbers = metric.of_tensors(Tensor::from(scores, {2, 3, 3}), Tensor::from({1, 2, 1, 1, -1, -1}, {2, 3}));
  EXPECT_EQ(numbers, (std::vector<double>{2, 4}));  // one is missing, one is replaced
  EXPECT_EQ(metric.value({numbers, 2, 1}, {}), 0.5);
}

}  // namespace
}  // namespace retrace
