#include "retrace/train/input_statistics.h"

#include <gtest/gtest.h>

#include <cmath>
#include <numeric>

#include "retrace/data/array_store.h"
#include "retrace/data/augment.h"
#include "retrace/data/random_stream.h"
#include "retrace/tensor/fingerprint.h"
#include "retrace/train/job_data.h"
#include "retrace/train/test_run.h"
#include "retrace/train/train_job.h"
#include "retrace/train/train_network.h"
#include "tests/error_testing.h"
#include "tests/temporary_folder.h"

namespace retrace {
namespace {

using nn::Normalization;
using nn::NormalizeBy;
using Floats = std::vector<float>;

// Images of 2 x 2 pixels and 2 channels.
constexpr int64_t kCount = 300, kSize = 8;

Floats random_values(uint64_t seed, float scale = 3, float shift = 100) {
  RandomStream random(seed, "test", 0, 0, 0);
  Floats values(kCount * kSize);
  for (float& value : values) value = scale * random.uniform() + shift;
  return values;
}

Datastore store_of(const Floats& values) {
  std::vector<int32_t> classes;
  for (int i = 0; i < kCount; ++i) classes.push_back(i % 2);
  return array_store({Tensor::from(values, {kCount, 2, 2, 2}, "BSSC"), Tensor::from(classes, {kCount})});
}

nn::Layer layers_with(const nn::ImageInputOptions& options) {
  return nn::Sequential{nn::image_input({2, 2, 2}, options), nn::linear(2), nn::softmax()};
}

nn::Network network_with(const nn::ImageInputOptions& options) {
  return nn::make_network(random_key(1), layers_with(options), {2, 2, 2}, {{.name = "y"}});
}

Floats state_of(const nn::Network& network, const char* name) {
  return network.state["image_input_1"][name].tensor().to_vector<float>();
}

// The numbers that element i belongs to, by another way: a group's members are gathered first.
std::vector<std::vector<double>> groups_of(const Floats& values, NormalizeBy by) {
  const size_t count = by == NormalizeBy::channel ? 2 : by == NormalizeBy::element ? kSize : 1;
  std::vector<std::vector<double>> groups(count);
  for (size_t i = 0; i < values.size(); ++i) groups[i % kSize % count].push_back(values[i]);
  return groups;
}

long double mean_of(const std::vector<double>& group) {
  return std::accumulate(group.begin(), group.end(), 0.0L) / static_cast<long double>(group.size());
}

// Whether it is the nearest f32, or its neighbour where the exact number lies near the middle of two.
void expect_near(float found, long double exact) {
  const float nearest = static_cast<float>(exact);
  EXPECT_TRUE(found == nearest || found == std::nextafter(nearest, found)) << found << " for " << double(exact);
}

TEST(InputStatistics, AreThoseOfTheWholeSetInHigherPrecision) {
  const Floats values = random_values(1);
  for (const auto by : {NormalizeBy::channel, NormalizeBy::element, NormalizeBy::all}) {
    const auto groups = groups_of(values, by);
    for (const auto kind : {Normalization::zerocenter, Normalization::zscore, Normalization::rescale_symmetric,
                            Normalization::rescale_zero_one}) {
      const auto network = with_input_statistics(network_with({kind, by}), store_of(values));
      const Floats offset = state_of(network, "offset"), scale = state_of(network, "scale");
      ASSERT_EQ(offset.size(), groups.size());
      ASSERT_EQ(scale.size(), groups.size());
      for (size_t g = 0; g < groups.size(); ++g) {
        const auto [low, high] = std::minmax_element(groups[g].begin(), groups[g].end());
        const long double mean = mean_of(groups[g]);
        long double squares = 0;
        for (const double x : groups[g]) squares += (x - mean) * (x - mean);
        const long double deviation = std::sqrt(squares / static_cast<long double>(groups[g].size()));
        switch (kind) {
          case Normalization::zerocenter:
            expect_near(offset[g], mean);
            EXPECT_EQ(scale[g], 1);
            break;
          case Normalization::zscore:
            expect_near(offset[g], mean);
            expect_near(scale[g], deviation);
            break;
          case Normalization::rescale_symmetric:
            EXPECT_EQ(offset[g], static_cast<float>((*low + *high) / 2));
            EXPECT_EQ(scale[g], static_cast<float>((*high - *low) / 2));
            break;
          default:
            EXPECT_EQ(offset[g], static_cast<float>(*low));
            EXPECT_EQ(scale[g], static_cast<float>(*high - *low));
        }
      }
    }
  }
}

// The roundings of docs/numerics/training.md 6, by hand: two samples of two numbers, then one merge.
TEST(InputStatistics, MergeSamplesAsTheContractSays) {
  InputMoments moments(1);
  const Floats a{0.1f, 0.7f}, b{5.3f, -2.2f};
  moments.add(a), moments.add(b);
  const auto one = [](const Floats& x) {
    const double mean = (0.0 + double(x[0]) + double(x[1])) / 2, c = x[0] - mean, d = x[1] - mean;
    return std::pair(mean, c * c + d * d);
  };
  const auto [ma, sa] = one(a);
  const auto [mb, sb] = one(b);
  const double delta = mb - ma, r = 2.0 / 4.0;
  EXPECT_EQ(moments.offset(Normalization::zscore), Floats{static_cast<float>(std::fma(delta, r, ma))});
  const double m2 = (sa + sb) + (delta * delta) * (2.0 * r);
  EXPECT_EQ(moments.scale(Normalization::zscore), Floats{static_cast<float>(std::sqrt(m2 / 4))});
}

// Series of 3 positions and 2 features, two of them shorter, and their whole positions alone.
TEST(InputStatistics, PositionsOfPaddingDoNotCount) {
  const float none = std::nanf("");
  const Floats padded{1, 10, 2, 40, 3, 70, 4, -10, none, none, none, none, 5, 0, 9, 20, none, none};
  const Floats whole{1, 10, 2, 40, 3, 70, 4, -10, 5, 0, 9, 20};
  const auto network = nn::make_network(
      random_key(1),
      nn::Sequential{nn::sequence_input({Normalization::zscore}), nn::lstm(2, {.last = true}), nn::linear(2)}, {3, 2},
      {{.name = "y"}});
  const auto state =
      with_input_statistics(network, array_store({Tensor::from(padded, {3, 3, 2}), Tensor::from({0, 1, 1}, {3})}))
          .state["sequence_input_1"];
  double mean[2] = {}, squares[2] = {};
  for (size_t i = 0; i < whole.size(); ++i) mean[i % 2] += whole[i] / 6.0;
  for (size_t i = 0; i < whole.size(); ++i) squares[i % 2] += (whole[i] - mean[i % 2]) * (whole[i] - mean[i % 2]) / 6;
  for (size_t c = 0; c < 2; ++c) {
    EXPECT_FLOAT_EQ(state["offset"].tensor().to_vector<float>()[c], static_cast<float>(mean[c]));
    EXPECT_FLOAT_EQ(state["scale"].tensor().to_vector<float>()[c], static_cast<float>(std::sqrt(squares[c])));
  }
  Floats broken = padded;
  broken[5] = none;  // a number that is missing within a position
  EXPECT_TRUE(says(error_of([&] {
                     with_input_statistics(
                         network, array_store({Tensor::from(broken, {3, 3, 2}), Tensor::from({0, 1, 1}, {3})}));
                   }),
                   "take the sample out of the data, or the normalization of sequence_input away"));
}

TEST(InputStatistics, AConstantChannelIsDividedByOne) {
  Floats values = random_values(2);
  for (size_t i = 0; i < values.size(); i += 2) values[i] = 7;
  for (const auto kind : {Normalization::zscore, Normalization::rescale_symmetric, Normalization::rescale_zero_one}) {
    const auto network = with_input_statistics(network_with({kind}), store_of(values));
    EXPECT_EQ(state_of(network, "offset")[0], 7);
    EXPECT_EQ(state_of(network, "scale")[0], 1);
    EXPECT_NE(state_of(network, "scale")[1], 1);
  }
}

TrainNetworkOptions short_training() { return {.training = {.max_epochs = 2, .mini_batch_size = 32}, .seed = 5}; }

// What the network computes is what the transform "normalize" of the same numbers would have made of the data.
TEST(InputStatistics, TrainLikeDataThatWereNormalizedBefore) {
  const Datastore data = store_of(random_values(3));
  const auto options = short_training();
  const auto inside = train_network(data, layers_with({Normalization::zscore}), "cross-entropy", options);
  const Floats offset = state_of(inside.network, "offset"), scale = state_of(inside.network, "scale");
  EXPECT_GT(offset[0], 100);
  EXPECT_LT(scale[0], 1);
  const auto before = named_transform(data, "normalize",
                                      {{"normalize_mean", std::vector<double>(offset.begin(), offset.end())},
                                       {"normalize_deviation", std::vector<double>(scale.begin(), scale.end())}});
  const auto outside = train_network(before, layers_with({}), "cross-entropy", options);
  EXPECT_TRUE(outside.network.state.empty());
  EXPECT_EQ(fingerprint(inside.network.parameters), fingerprint(outside.network.parameters));
}

TEST(InputStatistics, DependOnNoWorkerNorThread) {
  const Datastore data = store_of(random_values(4));
  auto options = short_training();
  options.training.shards = 3;
  const auto print = [&](int workers, int threads) {
    options.workers = workers, options.threads = threads;
    return train_network(data, layers_with({Normalization::zscore}), "cross-entropy", options).info.fingerprint;
  };
  const std::string one = print(1, 1);
  EXPECT_NE(one, train_network(data, layers_with({}), "cross-entropy", options).info.fingerprint);
  EXPECT_EQ(print(3, 1), one);
  EXPECT_EQ(print(2, 2), one);
}

// Noise that is drawn anew in each pass: the statistics are those of the first epoch, pass 1.
TEST(InputStatistics, AreThoseOfWhatTheFirstEpochSees) {
  const auto noisy = named_transform(store_of(random_values(5)), "gaussian-noise", {{"noise_deviation", 2.0}});
  Floats seen;
  for (int64_t i = 0; i < kCount; ++i)
    for (const float x : noisy.source()->get(i, 1)[0].to_vector<float>()) seen.push_back(x);
  const nn::ImageInputOptions how{Normalization::rescale_symmetric, NormalizeBy::element};
  const auto network = with_input_statistics(network_with(how), noisy);
  const auto fixed = with_input_statistics(network_with(how), store_of(seen));
  EXPECT_EQ(fingerprint(network.state), fingerprint(fixed.state));
}

TEST(InputStatistics, AreKeptIfTheUserWants) {
  const Datastore first = store_of(random_values(6)), second = store_of(random_values(7, 10, -5));
  auto options = short_training();
  const auto one = train_network(first, layers_with({Normalization::zscore}), "cross-entropy", options);
  const auto anew = train_network(second, one.network, "cross-entropy", options);
  EXPECT_NE(fingerprint(anew.network.state), fingerprint(one.network.state));
  options.keep_input_statistics = true;
  const auto kept = train_network(second, one.network, "cross-entropy", options);
  EXPECT_EQ(fingerprint(kept.network.state), fingerprint(one.network.state));
}

const char* const kJob =
    "seed = 1\ndevice = \"cpu\"\n[network]\nlayers = [\n"
    "  {type = \"image_input\", normalization = \"zscore\", normalization_by = \"element\", name = \"pixels\"},\n"
    "  {type = \"linear\", features = 10},\n]\n[data]\nsource = \"digits\"\ntrain_samples = 64\ntest_samples = 20\n"
    "[training]\nmini_batch_size = 16\nmax_epochs = 2\n";

TEST(InputStatistics, OfAJobStandInItsRun) {
  const TemporaryFolder root;
  const Job job = parse_job(kJob, "x.toml");
  EXPECT_TRUE(says(job_text(job),
                   "{type = \"image_input\", name = \"pixels\", normalization = \"zscore\", "
                   "normalization_by = \"element\"},"));
  EXPECT_EQ(job_text(parse_job(job_text(job), "y.toml")), job_text(job));
  const auto trained = train_job(job, {.out = root / "run"});
  const Tensor scale = trained.weights.state["pixels"]["scale"].tensor();
  EXPECT_EQ(scale.shape(), (Shape{28, 28, 1}));
  EXPECT_NE(fingerprint(trained.weights.state), fingerprint(make_job_network(job).state));
  const auto tested = test_run(root / "run");
  EXPECT_EQ(tested.loss, trained.loss);
  EXPECT_EQ(tested.metrics, trained.metrics);
  // Another number of epochs, threads and workers changes no statistic.
  Job other = job;
  other.training.max_epochs = 1, other.training.shards = 2, other.workers = 2, other.threads = 1;
  EXPECT_EQ(fingerprint(train_job(other, {.write_run = false}).weights.state), fingerprint(trained.weights.state));
}

TEST(InputStatistics, ErrorsSayWhatHelps) {
  const Place place{"x.cpp", 7};
  Floats values = random_values(8);
  EXPECT_EQ(error_of([&] {
              with_input_statistics(network_with({Normalization::zscore}),
                                    array_store({Tensor::zeros({3, 2, 2, 1}, DType::f32, "BSSC")}), place);
            }),
            "error[RT0379]: the data have samples that the network does not read\n"
            "  where:    x.cpp:7\n"
            "  got:      samples of [2,2,1]\n"
            "  expected: samples of [2,2,2]");
  values[2 * kSize + 3] = HUGE_VALF;
  EXPECT_EQ(error_of([&] {
              with_input_statistics(network_with({Normalization::rescale_zero_one}), store_of(values), place);
            }),
            "error[RT0380]: the input of sample 2 is not finite\n"
            "  where:    x.cpp:7\n"
            "  expected: finite numbers, of which image_input takes statistics\n"
            "  help:     take the sample out of the data, or the normalization of image_input away");
  EXPECT_EQ(error_of([&] {
              with_input_statistics(network_with({Normalization::zscore}), store_of(values).subset({}), place);
            }),
            "error[RT0378]: there are no samples to take statistics of\n"
            "  where:    x.cpp:7\n"
            "  expected: one sample at least");
  const nn::Layer late = nn::Sequential{nn::relu(), nn::image_input({.normalization = Normalization::zscore})};
  EXPECT_EQ(error_of([&] { late.initial({2, 2, 1}, random_key(1), place); }),
            "error[RT0376]: layer \"image_input_1\" normalises, and is not the first layer\n"
            "  where:    x.cpp:7\n"
            "  expected: statistics of the training data, which are the input of the first layer alone\n"
            "  help:     put it before all other layers, or take its normalization away");
  const auto network = network_with({Normalization::zscore});
  EXPECT_EQ(error_of([&] {
              network.forward(Tensor::zeros({1, 2, 2, 2}, DType::f32, "BSSC"), network.parameters, {}, Phase::inference,
                              place);
            }),
            "error[RT0377]: the state has no entry \"image_input_1/offset\"\n"
            "  where:    x.cpp:7\n"
            "  expected: state as made by initial() of the same layers");
}

TEST(InputStatistics, AWrongChoiceInAJobIsNamed) {
  const auto with = [](const std::string& options) {
    return error_of([&] {
      parse_job("[network]\nlayers = [\n  {type = \"image_input\", " + options +
                    "},\n  {type = \"linear\", features = 10},\n]\n[data]\nsource = \"digits\"\n",
                "x.toml");
    });
  };
  EXPECT_EQ(with("normalization = \"zerocentre\""),
            "error[RT0442]: layer 1 (image_input): normalization has no choice \"zerocentre\"\n"
            "  where:    x.toml:3:3\n"
            "  expected: none, zerocenter, zscore, rescale-symmetric, rescale-zero-one\n"
            "  help:     did you mean \"zerocenter\"?");
  EXPECT_TRUE(says(with("normalisation = \"zscore\""), "did you mean \"normalization\"?"));
}

}  // namespace
}  // namespace retrace
