// Metrics against the definitions of scikit-learn, written out here, and against values that scikit-learn gives.
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <map>
#include <set>

#include "retrace/data/array_store.h"
#include "retrace/data/random_stream.h"
#include "retrace/distributed/pool.h"
#include "retrace/train/evaluate_network.h"
#include "tests/error_testing.h"

namespace retrace {
namespace {

using nn::OutputKind;

struct Scored {
  std::vector<std::vector<float>> scores;
  std::vector<int32_t> labels;
};

MetricBatch batch_of(const Scored& set) {
  std::vector<float> y;
  for (const auto& row : set.scores) y.insert(y.end(), row.begin(), row.end());
  const auto samples = static_cast<int64_t>(set.labels.size());
  return metric_batch(OutputKind::class_scores,
                      Tensor::from(y, {samples, static_cast<int64_t>(set.scores[0].size())}, "BC"),
                      Tensor::from(set.labels, {samples}, "B"));
}

MetricBatch batch_of(const std::vector<float>& y, const std::vector<float>& t, int64_t width) {
  const Shape shape{static_cast<int64_t>(y.size()) / width, width};
  return metric_batch(OutputKind::values, Tensor::from(y, shape, "BC"), Tensor::from(t, shape, "BC"));
}

const MetricKind& metric(const std::string& name) { return kind_of(all_metrics(), name, "metric", {}); }

double measured(const std::string& name, const MetricBatch& batch, const OptionValues& given = {}) {
  const MetricKind& kind = metric(name);
  const OptionValues options = with_standard_values(given, kind.options);
  const auto numbers = kind.of_batch(batch, options);
  return kind.value({numbers, batch.samples, batch.width}, options);
}

// Scores of few values, so that many are equal.
Scored random_set(uint64_t seed, int64_t samples, int64_t classes) {
  RandomStream random(seed, "metrics", 0, 0, 0);
  Scored set;
  for (int64_t i = 0; i < samples; ++i) {
    std::vector<float> row;
    for (int64_t c = 0; c < classes; ++c) row.push_back(static_cast<float>(random.below(5)) / 4);
    set.scores.push_back(row);
    set.labels.push_back(static_cast<int32_t>(random.below(static_cast<uint64_t>(classes))));
  }
  return set;
}

int64_t predicted(const std::vector<float>& row) {
  int64_t best = 0;
  for (size_t c = 1; c < row.size(); ++c)
    if (row[c] > row[static_cast<size_t>(best)]) best = static_cast<int64_t>(c);
  return best;
}

double accuracy_by_hand(const Scored& set) {
  double right = 0;
  for (size_t i = 0; i < set.labels.size(); ++i) right += predicted(set.scores[i]) == set.labels[i];
  return right / static_cast<double>(set.labels.size());
}

// The class is among the first k of the classes, sorted by descending score and stably.
double top_k_by_hand(const Scored& set, size_t k) {
  double right = 0;
  for (size_t i = 0; i < set.labels.size(); ++i) {
    std::vector<int32_t> order(set.scores[i].size());
    for (size_t c = 0; c < order.size(); ++c) order[c] = static_cast<int32_t>(c);
    std::stable_sort(order.begin(), order.end(), [&](int32_t a, int32_t b) {
      return set.scores[i][static_cast<size_t>(a)] > set.scores[i][static_cast<size_t>(b)];
    });
    right += std::find(order.begin(), order.begin() + static_cast<ptrdiff_t>(std::min(k, order.size())),
                       set.labels[i]) != order.begin() + static_cast<ptrdiff_t>(std::min(k, order.size()));
  }
  return right / static_cast<double>(set.labels.size());
}

// precision, recall, F of the classes in the union of labels and predictions; 0 where a denominator is 0.
std::array<double, 3> macro_by_hand(const Scored& set) {
  std::set<int64_t> classes;
  for (size_t i = 0; i < set.labels.size(); ++i) classes.insert({set.labels[i], predicted(set.scores[i])});
  std::array<double, 3> sums{};
  for (const int64_t c : classes) {
    double tp = 0, fp = 0, fn = 0;
    for (size_t i = 0; i < set.labels.size(); ++i) {
      const bool is = set.labels[i] == c, said = predicted(set.scores[i]) == c;
      tp += is && said, fp += !is && said, fn += is && !said;
    }
    sums[0] += tp + fp > 0 ? tp / (tp + fp) : 0;
    sums[1] += tp + fn > 0 ? tp / (tp + fn) : 0;
    sums[2] += 2 * tp + fp + fn > 0 ? 2 * tp / (2 * tp + fp + fn) : 0;
  }
  for (double& sum : sums) sum /= static_cast<double>(classes.size());
  return sums;
}

// All pairs, one by one.
double auc_by_hand(const Scored& set, size_t c) {
  double higher = 0, pairs = 0;
  for (size_t i = 0; i < set.labels.size(); ++i)
    for (size_t j = 0; j < set.labels.size(); ++j) {
      if (set.labels[i] != static_cast<int32_t>(c) || set.labels[j] == static_cast<int32_t>(c)) continue;
      const float a = set.scores[i][c], b = set.scores[j][c];
      higher += a > b ? 1 : a == b ? 0.5 : 0;
      ++pairs;
    }
  return higher / pairs;
}

TEST(Metrics, ClassesByTheirDefinitions) {
  for (uint64_t seed = 1; seed <= 40; ++seed) {
    const auto classes = static_cast<int64_t>(2 + seed % 5);
    const Scored set = random_set(seed, static_cast<int64_t>(30 + seed), classes);
    const MetricBatch batch = batch_of(set);
    EXPECT_EQ(measured("accuracy", batch), accuracy_by_hand(set));
    for (const int64_t k : {1, 2, 3, 100})
      EXPECT_EQ(measured("top-k", batch, {{"top_k", k}}), top_k_by_hand(set, static_cast<size_t>(k))) << k;
    EXPECT_EQ(measured("top-k", batch, {{"top_k", int64_t{1}}}), measured("accuracy", batch));
    const auto [precision, recall, f_score] = macro_by_hand(set);
    EXPECT_DOUBLE_EQ(measured("precision", batch), precision);
    EXPECT_DOUBLE_EQ(measured("recall", batch), recall);
    EXPECT_DOUBLE_EQ(measured("f-score", batch), f_score);
    double auc = 0;
    for (int64_t c = 0; c < classes; ++c)
      auc += auc_by_hand(set, static_cast<size_t>(c)) / static_cast<double>(classes);
    EXPECT_DOUBLE_EQ(measured("auc", batch), classes == 2 ? auc_by_hand(set, 1) : auc);
  }
}

// Of scikit-learn 1.x: roc_auc_score, precision_recall_fscore_support(average="macro"), top_k_accuracy_score.
TEST(Metrics, ClassesOfKnownSets) {
  // y_true = [0, 0, 1, 1], y_score = [0.1, 0.4, 0.35, 0.8]: the example of roc_auc_score.
  const Scored two{{{0.9f, 0.1f}, {0.6f, 0.4f}, {0.65f, 0.35f}, {0.2f, 0.8f}}, {0, 0, 1, 1}};
  EXPECT_EQ(measured("auc", batch_of(two)), 0.75);
  // All scores equal: every pair is a half.
  EXPECT_EQ(measured("auc", batch_of({{{0.5f, 0.5f}, {0.5f, 0.5f}, {0.5f, 0.5f}}, {0, 1, 1}})), 0.5);
  // One class alone has no pairs; a score that is NaN has no place.
  EXPECT_TRUE(std::isnan(measured("auc", batch_of({{{0.5f, 0.5f}, {0.1f, 0.9f}}, {1, 1}}))));
  EXPECT_TRUE(std::isnan(measured("auc", batch_of({{{0.5f, NAN}, {0.1f, 0.9f}}, {0, 1}}))));
  // y_true = [0, 1, 2, 0, 1, 2], y_pred = [0, 2, 1, 0, 0, 1]: the example of f1_score, macro.
  const auto sure = [](int64_t c) {
    std::vector<float> row(4);
    row[static_cast<size_t>(c)] = 1;
    return row;
  };
  const Scored three{{sure(0), sure(2), sure(1), sure(0), sure(0), sure(1)}, {0, 1, 2, 0, 1, 2}};
  EXPECT_DOUBLE_EQ(measured("f-score", batch_of(three)), 0.8 / 3) << "the class 3 does not occur";
  EXPECT_DOUBLE_EQ(measured("precision", batch_of(three)), 2.0 / 9);
  EXPECT_DOUBLE_EQ(measured("recall", batch_of(three)), 1.0 / 3);
  // The example of top_k_accuracy_score, k = 2.
  const Scored ranked{{{0.5f, 0.2f, 0.2f}, {0.3f, 0.4f, 0.2f}, {0.2f, 0.4f, 0.3f}, {0.7f, 0.2f, 0.1f}}, {0, 1, 2, 2}};
  EXPECT_EQ(measured("top-k", batch_of(ranked), {{"top_k", int64_t{2}}}), 0.75);
  // A score that is NaN comes before all others, and is never right by itself.
  EXPECT_EQ(measured("top-k", batch_of({{{0.5f, NAN, 0.1f}}, {0}}), {{"top_k", int64_t{1}}}), 0);
  EXPECT_EQ(measured("top-k", batch_of({{{0.5f, NAN, 0.1f}}, {1}}), {{"top_k", int64_t{1}}}), 0);
}

TEST(Metrics, TheConfusionMatrixCounts) {
  const Scored set = random_set(3, 60, 4);
  const MetricBatch batch = batch_of(set);
  const auto& kind = metric("confusion-matrix");
  const auto numbers = kind.of_batch(batch, {});
  const MetricTable table = kind.table({numbers, batch.samples, batch.width});
  MetricTable expected(4, std::vector<double>(4));
  for (size_t i = 0; i < set.labels.size(); ++i)
    ++expected[static_cast<size_t>(set.labels[i])][static_cast<size_t>(predicted(set.scores[i]))];
  EXPECT_EQ(table, expected);
}

TEST(Metrics, MeanIouIsRightOnesAmongAllOfTheClassOrPredictedAsIt) {
  const Scored set = random_set(4, 80, 3);
  double sum = 0;
  for (int32_t k = 0; k < 3; ++k) {
    double both = 0, either = 0;
    for (size_t i = 0; i < set.labels.size(); ++i) {
      const bool own = set.labels[i] == k, found = predicted(set.scores[i]) == k;
      both += own && found, either += own || found;
    }
    sum += both / either;
  }
  EXPECT_DOUBLE_EQ(measured("mean-iou", batch_of(set)), sum / 3);
}

TEST(Metrics, BinaryAccuracyComparesLogitsWithYesAndNo) {
  EXPECT_EQ(measured("binary-accuracy", batch_of({2.5f, -1, 0, 8, -3, 1}, {1, 0, 0, 1, 1, 0}, 3)), 4.0 / 6);
}

// The examples of scikit-learn, and features whose targets do not differ.
TEST(Metrics, ValuesOfKnownSets) {
  const MetricBatch one = batch_of({2.5f, 0.0f, 2, 8}, {3, -0.5f, 2, 7}, 1);
  EXPECT_EQ(measured("mae", one), 0.5);
  EXPECT_DOUBLE_EQ(measured("mape", one), 0.3273809523809524);
  EXPECT_DOUBLE_EQ(measured("r2", one), 0.9486081370449679);
  EXPECT_DOUBLE_EQ(measured("rmse", one), std::sqrt(0.375));
  const MetricBatch two = batch_of({0, 2, -1, 2, 8, -5}, {0.5f, 1, -1, 1, 7, -6}, 2);
  EXPECT_EQ(measured("mae", two), 0.75);
  EXPECT_DOUBLE_EQ(measured("r2", two), (0.9654377880184332 + 0.9081632653061225) / 2);
  EXPECT_EQ(measured("r2", batch_of({1, 2, 3}, {1, 2, 3}, 1)), 1);
  EXPECT_EQ(measured("r2", batch_of({2, 2, 2}, {1, 2, 3}, 1)), 0);
  EXPECT_EQ(measured("r2", batch_of({5, 5}, {5, 5}, 1)), 1);
  EXPECT_EQ(measured("r2", batch_of({5, 6}, {5, 5}, 1)), 0);
  EXPECT_EQ(measured("mape", batch_of({1}, {0}, 1)), 0x1p52);
}

TEST(Metrics, PsnrIsTenLogarithmsOfTheRatio) {
  const MetricBatch batch = batch_of({0.5f, 0.25f, 1, 0}, {0.25f, 0.25f, 0.5f, 0}, 2);
  const double square = (0.0625 + 0.25) / 4;
  EXPECT_DOUBLE_EQ(measured("psnr", batch), 10 * std::log10(1 / square));
  EXPECT_DOUBLE_EQ(measured("psnr", batch, {{"psnr_peak", 255.0}}), 10 * std::log10(255.0 * 255.0 / square));
  EXPECT_NEAR(measured("psnr", batch_of({0.1f}, {0}, 1)), 20, 1e-6);
  EXPECT_EQ(measured("psnr", batch_of({1, 2}, {1, 2}, 1)), HUGE_VAL);
}

TEST(Metrics, AreChosenByTheKindOfAnOutput) {
  const std::vector<nn::NetworkOutput> outputs{{.name = "class"},
                                               {.name = "angle", .kind = OutputKind::values, .metric = "rmse"},
                                               {.name = "none", .metric = ""}};
  const auto names = [&](const MetricChoice& choice) {
    std::vector<std::string> found;
    for (const auto& one : metrics_of(outputs, choice)) found.push_back(one.name);
    return found;
  };
  using Names = std::vector<std::string>;
  EXPECT_EQ(names({}), (Names{"accuracy", "angle_rmse"}));
  EXPECT_EQ(names({.names = {"r2", "top-k", "mae", "accuracy"}}),
            (Names{"top_k", "accuracy", "angle_r2", "angle_mae", "none_top_k", "none_accuracy"}));
  EXPECT_EQ(names({.more = {"confusion-matrix", "accuracy"}}),
            (Names{"accuracy", "confusion_matrix", "angle_rmse", "none_confusion_matrix", "none_accuracy"}));
  EXPECT_TRUE(says(error_of([&] { names({.names = {"acuracy"}}); }), "did you mean \"accuracy\"?"));
}

// A network with both kinds of outputs and a set on which its scores often tie.
struct Mixed {
  nn::Network network;
  JobData data;
};

Mixed mixed() {
  RandomStream random(5, "mixed", 0, 0, 0);
  constexpr int64_t samples = 41;
  std::vector<float> x, values;
  std::vector<int32_t> labels;
  for (int64_t i = 0; i < samples; ++i) {
    for (int k = 0; k < 3; ++k) x.push_back(static_cast<float>(random.below(3)));
    for (int k = 0; k < 2; ++k) values.push_back(static_cast<float>(random.uniform()));
    labels.push_back(static_cast<int32_t>(random.below(4)));
  }
  const Datastore store = array_store({Tensor::from(x, {samples, 3}, "BC"), Tensor::from(labels, {samples}, "B"),
                                       Tensor::from(values, {samples, 2}, "BC")});
  const nn::Layer layers =
      nn::parallel({{"class", nn::Sequential{nn::linear(4), nn::softmax()}}, {"value", nn::Sequential{nn::linear(2)}}});
  auto [parameters, state] = layers.initial({3}, random_key(2));
  return {{.name = "mixed",
           .sample = {3},
           .outputs = {{.name = "class"}, {.name = "value", .kind = OutputKind::values, .metric = "rmse"}},
           .layers = layers,
           .parameters = parameters,
           .state = state,
           .loss = [](const Tree& y, const Tree&) { return sum(y["class"].tensor()); }},
          {store, store, {"BC", "B", "BC"}, {1, 2}}};
}

MetricChoice all_of(const nn::Network& network) {
  MetricChoice choice;
  for (const auto& kind : all_metrics())
    for (const auto& output : network.outputs)
      if (measures(kind, output.kind) && !std::count(choice.names.begin(), choice.names.end(), kind.name))
        choice.names.push_back(kind.name);
  return choice;
}

// Workers change no metric. Mini-batches change none but rmse, whose sums are those of mini-batches (contract 1).
TEST(Metrics, AreTheSameBitsForAnyBatchesAndWorkers) {
  const Mixed made = mixed();
  const MetricChoice choice = all_of(made.network);
  const auto score = [&](int64_t batch, int workers) {
    Pool pool = Pool::local(workers, {}, {});
    return pool.spmd([&](Worker& worker) {
      NetworkEvaluator evaluate(made.network, made.data, batch, true, cpu_device(), choice);
      return evaluate(made.network.parameters, made.network.state, worker);
    })[0];
  };
  const auto bits = [](const NetworkScore& found) {
    std::map<std::string, uint64_t> all;
    for (const auto& [name, value] : found.metrics)
      if (name != "value_rmse") all[name] = std::bit_cast<uint64_t>(value);
    return all;
  };
  const NetworkScore whole = score(41, 1);
  EXPECT_EQ(whole.tables.size(), 1u);
  EXPECT_EQ(bits(whole).size(), choice.names.size() - 2) << "all but the table and rmse";
  for (const int64_t batch : {1, 7, 16, 41})
    for (const int workers : {1, 2, 3}) {
      const NetworkScore found = score(batch, workers);
      EXPECT_EQ(bits(found), bits(whole)) << batch << " " << workers;
      EXPECT_EQ(found.tables, whole.tables);
      EXPECT_EQ(score(batch, 1).metrics, found.metrics);
    }
}

}  // namespace
}  // namespace retrace
