#include "retrace/train/train_network.h"

#include <gtest/gtest.h>

#include <cmath>
#include <fstream>

#include "retrace/data/array_store.h"
#include "retrace/data/datasets.h"
#include "retrace/data/transform.h"
#include "retrace/ops/ops.h"
#include "retrace/tensor/fingerprint.h"
#include "retrace/train/product_testing.h"
#include "retrace/train/stop_request.h"
#include "retrace/train/train_job.h"
#include "tests/error_testing.h"
#include "tests/golden_jobs.h"
#include "tests/temporary_folder.h"

namespace retrace {
namespace {

TrainNetworkOptions short_options() {
  return {.training = {.max_epochs = 3, .mini_batch_size = 16, .initial_learn_rate = 0.01}, .seed = 3};
}

TrainNetworkOptions golden_options() {
  return {.training = {.solver = "adam",
                       .max_epochs = 3,
                       .mini_batch_size = 16,
                       .initial_learn_rate = 0.001,
                       .l2_regularization = 0.0001,
                       .shuffle = "every-epoch",
                       .partial_mini_batch = "keep"},
          .validation_data = datasets::digits(Split::test, {.count = 24, .seed = 1}),
          .seed = 1};
}

nn::Network golden_network() {
  return nn::make_network(random_key(1).split("parameters"),
                          {.name = "digits", .width = 16, .heads = {"class", "angle"}});
}

// Masks are whole numbers with three axes; -1 does not count.
TEST(TrainNetwork, LearnsTheClassOfEachPixel) {
  const Tensor x = uniform({64, 6, 6, 1}, random_key(4), {.labels = "BSSC"});
  std::vector<int32_t> classes;
  for (const float value : x.to_vector<float>()) classes.push_back(value > 0.5f);
  for (size_t i = 0; i < classes.size(); i += 7) classes[i] = -1;
  const Datastore data = array_store({x, Tensor::from(classes, {64, 6, 6, 1}, "BSSC")});
  const nn::Sequential layers{nn::conv2d(1, 8), nn::relu(), nn::conv2d(1, 2), nn::softmax()};
  TrainNetworkOptions options{.training = {.max_epochs = 60, .mini_batch_size = 16, .initial_learn_rate = 0.05},
                              .validation_data = data,
                              .seed = 2};
  const auto made = train_network(data, layers, "cross-entropy", options);
  EXPECT_EQ(made.network.outputs[0].kind, nn::OutputKind::pixel_scores);
  EXPECT_EQ(made.info.metrics.at(0).first, "accuracy");
  EXPECT_GT(made.info.metrics.at(0).second, 0.97);
}

// The job tests/golden/1/digits.toml, in C++.
TEST(TrainNetwork, TheDigitsGoldenJobHasTheGoldenFingerprint) {
  const Datastore data = datasets::digits(Split::train, {.count = 52, .seed = 1});
  const nn::Network network = golden_network();
  TrainNetworkOptions options = golden_options();
  const auto one = train_network(data, network, network.loss, options);
  EXPECT_EQ(one.info.fingerprint, golden_job("digits").fingerprint);
  EXPECT_EQ(fingerprint(one.network.parameters, one.network.state), one.info.fingerprint);
  const auto job = train_job(read_job(golden_path("digits")), {.write_run = false});
  EXPECT_EQ(one.info.metrics, job.metrics);
  EXPECT_EQ(one.info.validation_loss, job.loss);
  EXPECT_EQ(one.info.steps.size(), 12u);
  EXPECT_EQ(one.info.validations.size(), 3u);
  options.training.shards = 4;
  for (const int workers : {1, 3}) {
    options.workers = workers;
    EXPECT_EQ(train_network(data, network, network.loss, options).info.fingerprint, golden_job("digits").four_shards);
  }
}

TEST(TrainNetwork, LayersAndTheirHistory) {
  TrainNetworkOptions options = short_options();
  options.validation_data = products(8);
  const auto [network, info] = train_network(products(), small_layers(), "mean-squared-error", options);
  EXPECT_EQ(info.stop_reason, "max epochs completed");
  EXPECT_EQ(info.epochs, 3);
  EXPECT_EQ(info.iterations, 9);
  EXPECT_EQ(info.output_iteration, 9);
  ASSERT_EQ(info.steps.size(), 9u);
  EXPECT_EQ(info.steps[8].iteration, 9);
  EXPECT_EQ(info.steps[8].epoch, 3);
  EXPECT_EQ(info.steps[8].learn_rate, 0.01f);
  EXPECT_LT(info.steps[8].loss, info.steps[0].loss);
  ASSERT_EQ(info.validations.size(), 3u);
  EXPECT_EQ(info.validations[2].loss, info.validation_loss);
  // The root of the mean of the squares, by hand.
  const Tensor y = network.predict(Tensor::from<float>({0.5f, -1, 0.25f, 1}, {2, 2}, "BC"));
  EXPECT_EQ(y.shape(), (Shape{2, 1}));
  double squares = 0;
  const Datastore held = products(8);
  for (int64_t i = 0; i < 8; ++i) {
    const auto one = held.get(i);
    const Tensor made = network.predict(reshape(one[0], {1, 2}));
    squares += std::pow(made.number() - one[1].number(), 2) / 8;
  }
  EXPECT_NEAR(info.validation_loss, squares, 1e-6);
  ASSERT_EQ(info.metrics.size(), 1u);
  EXPECT_EQ(info.metrics[0].first, "rmse");
  EXPECT_NEAR(info.metrics[0].second, std::sqrt(squares), 1e-6);
}

// Of a pool with more workers than shards those that are more make mini-batches; without a pool their number is ours.
TEST(TrainNetwork, TheNumberOfWorkersMayBeLeftToUs) {
  TrainNetworkOptions options = short_options();
  options.training.shards = 2;
  const Datastore data = transform(products(), [](Observation one, TransformContext& context) {
    one[0] = one[0] + context.random.uniform(-0.125, 0.125);
    return one;
  });
  const auto one = train_network(data, small_layers(), "mean-squared-error", options);
  options.workers = 0;
  EXPECT_EQ(train_network(data, small_layers(), "mean-squared-error", options).info.fingerprint, one.info.fingerprint);
  Pool pool = Pool::local(5);
  options.pool = &pool;
  EXPECT_EQ(train_network(data, small_layers(), "mean-squared-error", options).info.fingerprint, one.info.fingerprint);
  options.workers = 1;
  EXPECT_EQ(error_of([&] { train_network(data, small_layers(), "mean-squared-error", options); }).find("error[RT0220]"),
            0u);
}

// The same loss by name and as a function; functions of tensors and of trees; targets with and without an axis.
TEST(TrainNetwork, ALossOfUsersTrainsAlike) {
  const auto by_name = train_network(products(), small_layers(), "mean-squared-error", short_options());
  const auto own = train_network(
      products(), small_layers(), [](const Tensor& y, const Tensor& t) { return mean_squared_error(y, t); },
      short_options());
  EXPECT_EQ(own.info.fingerprint, by_name.info.fingerprint);
  EXPECT_TRUE(std::isnan(own.info.validation_loss));
  EXPECT_TRUE(own.info.metrics.empty());
  std::vector<float> points, heights;
  const Datastore data = products();
  for (int64_t i = 0; i < data.size(); ++i) {
    const auto p = data.get(i)[0].to_vector<float>();
    points.insert(points.end(), p.begin(), p.end());
    heights.push_back(static_cast<float>(data.get(i)[1].number()));
  }
  const Datastore flat = array_store({Tensor::from(points, {40, 2}), Tensor::from(heights, {40})});
  const auto numbers = train_network(flat, small_layers(), "mean-squared-error", short_options());
  EXPECT_EQ(numbers.info.fingerprint, by_name.info.fingerprint);
}

TEST(TrainNetwork, ClassesAreRecognised) {
  TrainNetworkOptions options = short_options();
  options.validation_data = datasets::digits(Split::test, {.count = 20});
  const auto trained = train_network(datasets::digits(Split::train, {.count = 40}),
                                     nn::Sequential{nn::linear(10), nn::softmax()}, "cross-entropy", options);
  ASSERT_EQ(trained.info.metrics.size(), 1u);
  EXPECT_EQ(trained.info.metrics[0].first, "accuracy");
  EXPECT_EQ(trained.network.outputs[0].kind, nn::OutputKind::class_scores);
}

TEST(TrainNetwork, TheOutputFunctionStops) {
  TrainNetworkOptions options = short_options();
  options.validation_data = products(8);
  std::vector<std::pair<int64_t, bool>> seen;
  options.output_function = [&](const TrainingProgress& progress) {
    seen.emplace_back(progress.step.iteration, progress.validation != nullptr);
    return progress.step.iteration == 4;
  };
  const auto stopped = train_network(products(), small_layers(), "mean-squared-error", options);
  EXPECT_EQ(stopped.info.stop_reason, "stopped");
  EXPECT_EQ(stopped.info.iterations, 4);
  EXPECT_EQ(seen, (std::vector<std::pair<int64_t, bool>>{{1, false}, {2, false}, {3, false}, {4, true}}));
}

// `touch RUN/stop`, and the button of the live page.
TEST(TrainNetwork, ARequestInTheFolderEndsIt) {
  const TemporaryFolder root;
  TrainNetworkOptions options = short_options();
  options.training.max_epochs = 1'000'000'000;
  options.out = (root / "run").string();
  options.output_function = [&](const TrainingProgress& progress) {
    if (progress.step.iteration == 3) ask_to_stop(options.out);
    return false;
  };
  const auto stopped = train_network(products(), small_layers(), "mean-squared-error", options);
  EXPECT_EQ(stopped.info.stop_reason, "stopped");
  EXPECT_GE(stopped.info.iterations, 3);
  EXPECT_FALSE(stop_is_asked(options.out));
}

// Against the recurrence over the weights after each step, in binary64.
TEST(TrainNetwork, WeightsAreAveraged) {
  std::vector<std::vector<float>> after;  // the numbers of all parameters
  const auto numbers = [](const Tree& tree) {
    std::vector<float> all;
    for (const auto& tensor : leaf_tensors(tree))
      for (const float value : tensor.to_vector<float>()) all.push_back(value);
    return all;
  };
  for (int64_t last = 1; last <= 9; ++last) {
    TrainNetworkOptions options = short_options();
    options.output_function = [&](const TrainingProgress& progress) { return progress.step.iteration == last; };
    after.push_back(
        numbers(train_network(products(), small_layers(), "mean-squared-error", options).network.parameters));
  }
  for (const double decay : {0.75, 1.0}) {
    std::vector<double> average(after[0].begin(), after[0].end());
    for (size_t t = 1; t < after.size(); ++t)
      for (size_t i = 0; i < average.size(); ++i)
        average[i] += std::fmax(1 - decay, 1 / (static_cast<double>(t) + 1)) * (after[t][i] - average[i]);
    TrainNetworkOptions options = short_options();
    options.training.average_decay = decay;
    const auto found =
        numbers(train_network(products(), small_layers(), "mean-squared-error", options).network.parameters);
    ASSERT_EQ(found.size(), average.size());
    double distance = 0;
    for (size_t i = 0; i < found.size(); ++i) {
      EXPECT_NEAR(found[i], average[i], 1e-6);
      distance = std::fmax(distance, std::fabs(found[i] - after.back()[i]));
    }
    EXPECT_GT(distance, 1e-3);
  }
}

// Two mini-batches of 6 are one of 12, but for roundings; the last iteration of an epoch has one of 4.
TEST(TrainNetwork, GradientsAreAccumulated) {
  TrainNetworkOptions options = short_options();
  options.training.mini_batch_size = 12;
  const auto one = train_network(products(), small_layers(), "mean-squared-error", options);
  options.training.mini_batch_size = 6;
  options.training.accumulate = 2;
  const auto two = train_network(products(), small_layers(), "mean-squared-error", options);
  ASSERT_EQ(two.info.iterations, 12);
  ASSERT_EQ(one.info.iterations, 12);
  for (size_t i = 0; i < 12; ++i) EXPECT_NEAR(two.info.steps[i].loss, one.info.steps[i].loss, 1e-5);
  const auto a = leaf_tensors(one.network.parameters), b = leaf_tensors(two.network.parameters);
  for (size_t i = 0; i < a.size(); ++i) {
    const auto x = a[i].to_vector<float>(), y = b[i].to_vector<float>();
    for (size_t k = 0; k < x.size(); ++k) EXPECT_NEAR(x[k], y[k], 1e-4);
  }
  // The same bits for any number of workers, and after a stop.
  options.training.shards = 3;
  const auto shards = train_network(products(), small_layers(), "mean-squared-error", options);
  options.workers = 2;
  const TemporaryFolder root;
  options.out = (root / "run").string();
  options.resume = true;
  options.output_function = [](const TrainingProgress& progress) { return progress.step.iteration == 5; };
  EXPECT_EQ(train_network(products(), small_layers(), "mean-squared-error", options).info.iterations, 5);
  options.output_function = {};
  EXPECT_EQ(train_network(products(), small_layers(), "mean-squared-error", options).info.fingerprint,
            shards.info.fingerprint);
}

TEST(TrainNetwork, AScheduleOfUsers) {
  TrainNetworkOptions options = short_options();
  const auto rate = [](const ScheduleStep& at) { return 0.5 / static_cast<double>(at.iteration + 2); };
  options.learn_rate = rate;
  const auto own = train_network(products(), small_layers(), "mean-squared-error", options);
  for (size_t i = 0; i < own.info.steps.size(); ++i)
    EXPECT_EQ(own.info.steps[i].learn_rate, static_cast<float>(0.5 / static_cast<double>(i + 2)));
}

TEST(TrainNetwork, ARunThatIsBrokenOffGoesOn) {
  const TemporaryFolder root;
  TrainNetworkOptions options = short_options();
  options.validation_data = products(8);
  const auto whole = train_network(products(), small_layers(), "mean-squared-error", options);
  options.out = (root / "run").string();
  options.resume = true;
  options.output_function = [](const TrainingProgress& progress) { return progress.step.iteration == 4; };
  train_network(products(), small_layers(), "mean-squared-error", options);
  options.output_function = {};
  const auto rest = train_network(products(), small_layers(), "mean-squared-error", options);
  EXPECT_EQ(rest.info.fingerprint, whole.info.fingerprint);
  EXPECT_EQ(rest.info.validation_loss, whole.info.validation_loss);
  EXPECT_EQ(rest.info.steps.size(), 5u);
  std::ifstream text(root / "run" / "training.toml");
  const std::string found(std::istreambuf_iterator<char>(text), {});
  EXPECT_NE(found.find("max_epochs = 3"), std::string::npos) << found;
  EXPECT_EQ(found.find("[network]"), std::string::npos) << found;
}

TEST(TrainNetwork, AnotherTrainingDoesNotGoOnWithARun) {
  const TemporaryFolder root;
  TrainNetworkOptions options = short_options();
  options.out = (root / "run").string();
  options.output_function = [](const TrainingProgress& progress) { return progress.step.iteration == 4; };
  train_network(products(), small_layers(), "mean-squared-error", options);
  options.resume = true;
  options.training.l2_regularization = 0.5;
  const std::string text = error_of([&] { train_network(products(), small_layers(), "mean-squared-error", options); });
  EXPECT_TRUE(says(text, "error[RT0562]"));
  EXPECT_TRUE(says(text, "training.l2_regularization is 0.0, not 0.5"));
}

std::string refusal(const Datastore& data, const nn::Layer& layers, const Loss& loss,
                    const TrainNetworkOptions& options = short_options()) {
  return error_of([&] { train_network(data, layers, loss, options, Place{"mine.cpp", 7}); });
}

TEST(TrainNetwork, MistakesAreNamed) {
  EXPECT_EQ(refusal(products(), small_layers(), "mean-squared-eror"),
            "error[RT0196]: there is no loss \"mean-squared-eror\"\n"
            "  where:    mine.cpp:7\n"
            "  expected: binary-cross-entropy, cosine, cross-entropy, ctc, half-mean-squared-error, huber, "
            "mean-absolute-error, "
            "mean-squared-error, poisson\n"
            "  help:     did you mean \"mean-squared-error\"?");
  EXPECT_EQ(refusal(array_store({Tensor::zeros({4, 2})}), small_layers(), "mean-squared-error"),
            "error[RT0481]: the data has no target for each output of the network\n"
            "  where:    mine.cpp:7\n"
            "  got:      1 variable\n"
            "  expected: 2: the input, and 1 target\n"
            "  help:     combine(inputs, targets) makes one store of two");
  EXPECT_EQ(refusal(products(), nn::Sequential{nn::linear(3)}, "mean-squared-error"),
            "error[RT0423]: the training set has targets that output \"y\" of network \"layers\" does not make\n"
            "  where:    mine.cpp:7\n"
            "  got:      targets of [1]\n"
            "  expected: targets of [3]");
  TrainNetworkOptions options = short_options();
  options.training.max_epochs = 0;
  options.training.options.set("momentum", 0.5);
  EXPECT_TRUE(
      says(refusal(products(), small_layers(), "mean-squared-error", options), "training.max_epochs is out of range"));
  options.training.max_epochs = 1;
  const std::string other = refusal(products(), small_layers(), "mean-squared-error", options);
  EXPECT_TRUE(says(other, "training.momentum has a meaning only with training.solver = \"muon\" or \"sgdm\""));
  EXPECT_TRUE(says(other, "mine.cpp:7"));
  const nn::Network two = golden_network();
  EXPECT_EQ(error_of([&] {
              train_network(datasets::digits(Split::train, {.count = 20}), two, "cross-entropy", {},
                            Place{"mine.cpp", 7});
            }),
            "error[RT0482]: the loss \"cross-entropy\" is one, and the network has 2 outputs\n"
            "  where:    mine.cpp:7\n"
            "  help:     give network.loss, the sum of the losses of its outputs, or a function of your own");
}

// The remedy that the message names works.
TEST(TrainNetwork, ClassesAreWholeNumbers) {
  const Tensor x = Tensor::from<float>({0, 1, 2, 3}, {4, 1}, "BC"),
               y = cast(Tensor::from<int32_t>({0, 1, 1, 0}, {4}, "B"), DType::boolean);
  const nn::Sequential layers{nn::linear(2), nn::softmax()};
  EXPECT_EQ(refusal(array_store({x, y}), layers, "cross-entropy"),
            "error[RT0423]: the training set has classes of type bool\n"
            "  where:    mine.cpp:7\n"
            "  expected: class numbers of type i32, u8 or i64\n"
            "  help:     cast(labels, DType::i32) converts them");
  EXPECT_EQ(refusal(array_store({x, cast(y, DType::i32)}), layers, "cross-entropy"), "no error");
}

TEST(TrainNetwork, CrossEntropyTakesProbabilities) {
  const Tensor x = Tensor::from<float>({0, 1, 2, 3}, {4, 1}, "BC"), y = Tensor::from<int32_t>({0, 1, 1, 0}, {4}, "B");
  const nn::Sequential bare{nn::linear(2)}, inner{nn::linear(3), nn::Sequential{nn::relu(), nn::linear(2)}};
  for (const auto& layers : {bare, inner})
    EXPECT_EQ(refusal(array_store({x, y}), layers, "cross-entropy"),
              "error[RT0490]: the loss \"cross-entropy\" takes probabilities, and the layers end with a linear one\n"
              "  where:    mine.cpp:7\n"
              "  expected: a softmax at the end\n"
              "  help:     add nn::softmax() behind the last layer, or give "
              "softmax_cross_entropy(y, one_hot(t, classes)) as a function");
  const nn::Sequential whole{bare, nn::softmax()};
  EXPECT_EQ(refusal(array_store({x, y}), whole, "cross-entropy"), "no error");
  const Loss logits = [](const Tensor& scores, const Tensor& t) {
    return softmax_cross_entropy(scores, one_hot(t, 2));
  };
  EXPECT_EQ(refusal(array_store({x, y}), bare, logits), "no error");
}

TEST(TrainNetwork, ClassesOfOtherTypesTrainToTheBitsOfI32) {
  const Tensor x = Tensor::from<float>({0, 1, 2, 3, 4, 5}, {6, 1}, "BC");
  const Tensor labels = Tensor::from<uint8_t>({0, 1, 2, 0, 1, 2}, {6}, "B");
  const nn::Sequential layers{nn::linear(3), nn::softmax()};
  TrainNetworkOptions options = short_options();
  options.training.mini_batch_size = 4;
  options.validation_data = array_store({x, labels});
  const auto narrow = train_network(array_store({x, labels}), layers, "cross-entropy", options).info;
  options.validation_data = array_store({x, cast(labels, DType::i32)});
  const auto wide = train_network(array_store({x, cast(labels, DType::i32)}), layers, "cross-entropy", options).info;
  EXPECT_EQ(narrow.fingerprint, wide.fingerprint);
  EXPECT_EQ(narrow.metrics, wide.metrics);
  const Tensor wrong = Tensor::from<uint8_t>({0, 1, 2, 0, 1, 200}, {6}, "B");
  EXPECT_TRUE(says(refusal(array_store({x, wrong}), layers, "cross-entropy"), "has the label 200 at index 5"));
  options.validation_data = array_store({x, cast(labels, DType::i64)});
  EXPECT_EQ(
      train_network(array_store({x, cast(labels, DType::i64)}), layers, "cross-entropy", options).info.fingerprint,
      narrow.fingerprint);
}

TEST(TrainNetwork, NetworksOfLayersWithSeveralOutputs) {
  const nn::Layer layers = nn::Sequential{
      nn::linear(8), nn::relu(),
      nn::parallel({{"class", nn::Sequential{nn::linear(10), nn::softmax()}}, {"angle", nn::linear(1)}})};
  const nn::Network network = nn::make_network(random_key(2), layers, {28, 28, 1},
                                               {{.name = "class"},
                                                {.name = "angle",
                                                 .kind = nn::OutputKind::values,
                                                 .loss = "mean-squared-error",
                                                 .weight = 0.01,
                                                 .metric = "rmse"}});
  TrainNetworkOptions options = short_options();
  options.validation_data = datasets::digits(Split::test, {.count = 20});
  const auto trained = train_network(datasets::digits(Split::train, {.count = 40}), network, network.loss, options);
  ASSERT_EQ(trained.info.metrics.size(), 2u);
  EXPECT_EQ(trained.info.metrics[1].first, "angle_rmse");
  EXPECT_TRUE(says(error_of([&] { nn::make_network(random_key(2), layers, {28, 28, 1}, {{.name = "angel"}}); }),
                   "did you mean \"angle\"?"));
  EXPECT_TRUE(says(error_of([&] { nn::make_network(random_key(2), layers, {28, 28, 1}, {}); }), "error[RT0480]"));
}

TEST(TrainNetwork, NamesTheSampleOfALossThatIsNotFinite) {
  const auto trained = [](std::vector<float> x, std::vector<float> y, double rate) {
    TrainNetworkOptions options = short_options();
    options.training.mini_batch_size = 4;
    options.training.initial_learn_rate = rate;
    options.training.shuffle = "never";
    options.training.solver = "sgdm";
    const Datastore data = array_store({Tensor::from(x, {8, 2}, "BC"), Tensor::from(y, {8, 1}, "BC")});
    options.workers = 2, options.training.shards = 2;
    return train_network(data, small_layers(), "mean-squared-error", options).info;
  };
  const std::vector<float> x(16, 1.0f), y(8, 1.0f);
  auto bad = x;
  bad[11] = NAN, bad[12] = INFINITY;
  auto info = trained(bad, y, 0.01);
  EXPECT_EQ(info.stop_reason, "the loss is not finite");
  EXPECT_EQ(info.iterations, 2);
  EXPECT_EQ(info.cause,
            "sample 5 of the training data has NaN in its input at [1]; 2 of the 4 samples of that step have such "
            "numbers");
  EXPECT_EQ(info.help, "take such samples out of the data, or put a number in place of what is missing");
  bad = y;
  bad[2] = INFINITY;
  EXPECT_EQ(trained(x, bad, 0.01).cause,
            "sample 2 of the training data has an infinity in its target \"y\" at [0]; 1 of the 4 samples of that step "
            "have such numbers");
  info = trained(std::vector<float>(16, 4e7f), y, 1000);
  EXPECT_EQ(info.cause,
            "the data of that step are finite: weights or values have become too large at the learning rate 1000");
  EXPECT_EQ(info.help,
            "set a smaller training.initial_learn_rate, or training.gradient_threshold = 1, which limits the "
            "gradients; scale the inputs, which reach 4e+07");
  EXPECT_EQ(trained(x, y, 0.01).cause, "");
}

}  // namespace
}  // namespace retrace
