// Jobs that describe their network layer by layer.

#include <gtest/gtest.h>

#include "retrace/base/error.h"
#include "retrace/nn/analyze.h"
#include "retrace/nn/loss_kind.h"
#include "retrace/tensor/fingerprint.h"
#include "retrace/train/job_data.h"
#include "retrace/train/train_job.h"
#include "retrace/train/training_step.h"

namespace retrace {
namespace {

constexpr const char* kRest = "[data]\nsource = \"digits\"\ntrain_samples = 32\ntest_samples = 16\n"
                              "[training]\nmini_batch_size = 16\nmax_epochs = 1\n";

Job job_with(const std::string& network) { return parse_job("seed = 7\n[network]\n" + network + kRest, "x.toml"); }

std::string refusal(const std::string& network, const std::string& rest = kRest) {
  try {
    parse_job("[network]\n" + network + rest, "x.toml");
  } catch (const Error& error) {
    EXPECT_EQ(error.kind(), ErrorKind::usage);
    return error.what();
  }
  return "";
}

std::string fingerprint_of(const nn::Network& network) { return fingerprint(network.parameters, network.state); }

// The state after three steps over the same mini-batch.
std::string trained(const Job& job, const nn::Network& network) {
  const JobData data = load_job_data(job, network);
  std::vector<Tensor> batch;
  MiniBatchQueue queue(data.train, {.mini_batch_size = 16, .formats = data.formats});
  for (const Tensor& tensor : queue.next()) batch.push_back(tensor);
  const auto step = training_step(job, network);
  TrainingState state = initial_training_state(network, job.training);
  for (int i = 0; i < 3; ++i) state = step(state, batch[0], targets_of(network, data, batch), 0.01f).after;
  return fingerprint(state.parameters, state.state);
}

// The network of the job, with layers that were made in C++.
nn::Network with_layers(const Job& job, const nn::Layer& layers) {
  nn::Network made = make_job_network(job);
  made.layers = layers;
  auto [parameters, state] = layers.initial(made.sample, random_key(job.seed).split("parameters"));
  made.parameters = parameters, made.state = state;
  return made;
}

void expect_same_bits(const Job& job, const nn::Layer& layers) {
  const nn::Network text = make_job_network(job), code = with_layers(job, layers);
  EXPECT_EQ(fingerprint_of(text), fingerprint_of(code));
  EXPECT_EQ(trained(job, text), trained(job, code));
}

constexpr const char* kPlain = R"(layers = [
  {type = "image_input", size = [28, 28, 1]},
  {type = "conv2d", filters = 4, size = [3, 5], stride = 2, padding = "same"},
  {type = "batch_norm"},
  {type = "relu"},
  {type = "max_pool2d", size = 2},
  {type = "linear", features = 10, initializer = "he-normal"},
]
)";

TEST(LayeredJob, HasTheBitsOfTheSameNetworkInCode) {
  const Job job = job_with(kPlain);
  expect_same_bits(
      job, nn::Sequential{nn::image_input({28, 28, 1}), nn::conv2d({3, 5}, 4, {.stride = 2, .padding = same}),
                          nn::batch_norm(), nn::relu(), nn::max_pool2d(2),
                          nn::parallel({{"class", nn::Sequential{nn::linear(10, {.initializer = nn::he_normal}),
                                                                 nn::softmax()}}})});
}

// The built-in digits network: skip, names, two outputs.
constexpr const char* kBranches = R"(layers = [
  {type = "conv2d", size = 5, filters = 4, padding = "same"}, {type = "batch_norm"}, {type = "relu", name = "start"},
  {type = "conv2d", size = 3, filters = 8, stride = 2, padding = "same"}, {type = "batch_norm"}, {type = "relu"},
  {type = "conv2d", size = 3, filters = 8, padding = "same"}, {type = "batch_norm", name = "main"},
  {type = "conv2d", name = "conv2d_skip", from = "start", size = 1, filters = 8, stride = 2},
  {type = "batch_norm", name = "batch_norm_skip"},
  {type = "add", from = ["main", "batch_norm_skip"]}, {type = "relu", name = "end"},
  {type = "linear", name = "class", features = 10}, {type = "softmax", name = "scores"},
  {type = "linear", name = "angle", from = "end", features = 1},
]
[[network.outputs]]
name = "class"
from = "scores"
[[network.outputs]]
name = "angle"
loss = "half-mean-squared-error"
weight = 0.1
)";

TEST(LayeredJob, BranchesAndOutputsAreThoseOfTheBuiltInNetwork) {
  std::string text = kBranches;
  text.replace(text.find("name = \"main\""), 13, "name = \"batch_norm_3\"");
  text.replace(text.find("\"main\""), 6, "\"batch_norm_3\"");
  const Job job = job_with(text);
  const nn::Network layered = make_job_network(job);
  Job built_in = job;
  built_in.network = {.name = "digits", .width = 4};
  const nn::Network same = make_job_network(built_in);
  EXPECT_EQ(fingerprint_of(layered), fingerprint_of(same));
  EXPECT_EQ(trained(job, layered), trained(built_in, same));
}

TEST(LayeredJob, BlocksRepeatWithParametersOfTheirOwn) {
  const Job job = job_with(R"(layers = [
  {type = "conv2d", size = 3, filters = 4, stride = 4},
  {repeat = 2, name = "stage", layers = [
    {type = "conv2d", size = 3, filters = 4, padding = "same"}, {type = "batch_norm"}, {type = "relu"},
    {type = "add", from = "input"}]},
  {repeat = 2, layers = [{type = "conv2d", size = 1, filters = 2}]},
  {type = "linear", features = 10},
])"
                           "\n");
  const auto stage = [](const char* name) {
    return nn::residual(nn::Sequential{nn::conv2d(3, 4, {.padding = same}), nn::batch_norm(), nn::relu()}).named(name);
  };
  expect_same_bits(job, nn::Sequential{nn::conv2d(3, 4, {.stride = 4}), stage("stage_1"), stage("stage_2"),
                                       nn::repeat(2, {nn::conv2d(1, 2)}),
                                       nn::parallel({{"class", nn::Sequential{nn::linear(10), nn::softmax()}}})});
}

TEST(LayeredJob, IsWrittenWholeAndReadBackEqual) {
  for (const std::string network : {kPlain, kBranches}) {
    const std::string text = job_text(job_with(network));
    EXPECT_EQ(job_text(parse_job(text, "again.toml")), text);
  }
  EXPECT_NE(job_text(job_with(kPlain))
                .find("[network]\nlayers = [\n"
                      "  {type = \"image_input\", size = [28, 28, 1]},\n"
                      "  {type = \"conv2d\", bias = true, dilation = 1, filters = 4, groups = 1, "
                      "initializer = \"glorot-uniform\", padding = \"same\", size = [3, 5], stride = 2},\n"
                      "  {type = \"batch_norm\", epsilon = 1e-05},\n"
                      "  {type = \"relu\"},\n"),
            std::string::npos)
      << job_text(job_with(kPlain));
}

TEST(LayeredJob, TrainsWithAnyNumberOfShardsAndThreads) {
  Job job = job_with(kPlain);
  job.device = "cpu", job.training.shards = 2;
  const auto once = train_job(job, {.write_run = false});
  job.threads = 1, job.workers = 2;
  EXPECT_EQ(train_job(job, {.write_run = false}).fingerprint, once.fingerprint);
  EXPECT_EQ(once.stop_reason, "max epochs completed");
  job.network.layers[1].options.set("filters", int64_t{5});
  EXPECT_NE(train_job(job, {.write_run = false}).fingerprint, once.fingerprint);
}

TEST(LayeredJob, TellsAllMistakesAtOnce) {
  EXPECT_EQ(refusal(R"(layers = [
  {type = "conv2", filters = 8},
  {type = "conv2d", filtres = 8, size = "big", padding = "sane"},
  {type = "relu", name = "a"},
  {type = "relu", name = "a", from = "b"},
  {type = "add"},
  {repeat = 0, layers = [{type = "linear", features = 0}]},
  {repeat = 2},
]
outputs = [{name = "clas"}]
)"),
            "");
}

TEST(LayeredJob, NamesTheLayerWhoseInputDoesNotFit) {
  EXPECT_EQ(refusal("layers = [\n  {type = \"linear\", features = 4},\n  {type = \"conv2d\", size = 3, filters = 2}]\n"), "");
  EXPECT_EQ(refusal("layers = [{type = \"conv2d\", size = 3, filters = 2}]\n"), "");
  EXPECT_EQ(refusal("name = \"digits\"\nlayers = [{type = \"linear\", features = 10}]\n"), "");
  EXPECT_EQ(refusal("layers = [{type = \"linear\", features = 10}]\n", ""), "");
}

TEST(LayeredJob, ATableInAnotherFormIsRefused) {
  EXPECT_EQ(refusal("layers = [\"relu\", {type = 3}, {type = \"relu\", x = {}}]\noutputs = [{from = \"x\", los = 1}]\n"), "");
  EXPECT_EQ(refusal("layers = 3\n"), "");
}

}  // namespace
}  // namespace retrace
