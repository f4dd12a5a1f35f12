// Jobs that describe their network layer by layer.

#include <fmt/format.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <fstream>

#include "retrace/base/error.h"
#include "retrace/data/mini_batch_queue.h"
#include "retrace/nn/analyze.h"
#include "retrace/nn/loss_kind.h"
#include "retrace/tensor/fingerprint.h"
#include "retrace/train/job_data.h"
#include "retrace/train/run_folder.h"
#include "retrace/train/train_job.h"
#include "retrace/train/training_step.h"
#include "retrace/train/weights.h"

namespace retrace {
namespace {

constexpr const char* kRest =
    "[data]\nsource = \"digits\"\ntrain_samples = 32\ntest_samples = 16\n"
    "[training]\nmini_batch_size = 16\nmax_epochs = 1\n";

Job job_with(const std::string& network) { return parse_job("seed = 7\n[network]\n" + network + kRest, "x.toml"); }

std::string fingerprint_of(const nn::Network& network) { return fingerprint(network.parameters, network.state); }

// The state after three steps over the same mini-batch.
std::string trained(const Job& job, const nn::Network& network) {
  const JobData data = load_job_data(job, network);
  std::vector<Tensor> batch;
  MiniBatchQueue queue(
      data.train, {.mini_batch_size = 16, .formats = data.formats, .outputs = static_cast<int>(data.formats.size())});
  for (const Tensor& tensor : queue.next()) batch.push_back(tensor);
  const auto step = training_step(job.training, job.seed, network);
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
      job,
      nn::Sequential{
          nn::image_input({28, 28, 1}), nn::conv2d({3, 5}, 4, {.stride = 2, .padding = same}), nn::batch_norm(),
          nn::relu(), nn::max_pool2d(2),
          nn::parallel({{"class", nn::Sequential{nn::linear(10, {.initializer = nn::he_normal}), nn::softmax()}}})});
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
                .find("[network]\ninitial_weights = \"\"\nlayers = [\n"
                      "  {type = \"image_input\", size = [28, 28, 1]},\n"
                      "  {type = \"conv2d\", bias = true, dilation = 1, filters = 4, groups = 1, "
                      "initializer = \"glorot-uniform\", padding = \"same\", size = [3, 5], stride = 2},\n"
                      "  {type = \"batch_norm\", epsilon = 1e-05},\n"
                      "  {type = \"relu\"},\n"),
            std::string::npos)
      << job_text(job_with(kPlain));
}

// The data say the shape of a sample; who says it, too, must agree.
TEST(LayeredJob, TakesTheSizeOfTheInputFromTheData) {
  const auto job_of = [](const std::string& input, const std::string& data = kRest) {
    return parse_job(
        "seed = 7\n[network]\nlayers = [" + input + "{type = \"linear\", name = \"class\", features = 10}]\n" + data,
        "x.toml");
  };
  const auto error_of = [&](const std::string& input, const std::string& data = kRest) -> std::string {
    try {
      job_of(input, data);
    } catch (const Error& error) {
      return error.what();
    }
    return "";
  };
  const std::string plain = "{type = \"image_input\"}, ", sized = "{type = \"image_input\", size = [28, 28, 1]}, ";
  EXPECT_EQ(fingerprint_of(make_job_network(job_of(plain))), fingerprint_of(make_job_network(job_of(sized))));
  EXPECT_EQ(trained(job_of(plain), make_job_network(job_of(plain))),
            trained(job_of(sized), make_job_network(job_of(sized))));
  const std::string text = job_text(job_of(plain));
  EXPECT_NE(text.find("  {type = \"image_input\"},\n"), std::string::npos) << text;
  EXPECT_EQ(job_text(parse_job(text, "again.toml")), text);
  EXPECT_NE(
      error_of("{type = \"image_input\", size = [28, 28, 3]}, ")
          .find("image_input: a sample is not [28,28,3]\n  where:    x.toml:3:11\n  got:      f32[1,28,28,1] \"BSSC\"\n"
                "  expected: a batch axis, then [28,28,3]"),
      std::string::npos)
      << error_of("{type = \"image_input\", size = [28, 28, 3]}, ");
  const std::string no_image = error_of(plain, "[data]\nsource = \"peaks\"\n");
  EXPECT_NE(no_image.find("image_input: a sample is no image\n  where:    x.toml:3:11\n  got:      f32[1,2] \"BC\"\n"
                          "  expected: a batch axis, then [height,width,channels]"),
            std::string::npos)
      << no_image;
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

// conv2d_1 is frozen, linear_1 has twice the rate, class half of the L2.
std::string with_factors(const std::string& a, const std::string& b, const std::string& c) {
  return "layers = [{type = \"conv2d\", size = 3, filters = 2, stride = 4" + a + "}, {type = \"batch_norm\"},\n" +
         "{type = \"linear\", features = 5" + b + "}, {type = \"relu\"},\n" +
         "{type = \"linear\", name = \"class\", features = 10" + c + "}]\n";
}

// The parameters after a step from the same start.
Tree after_a_step(const std::string& network, const std::string& training) {
  const Job job = parse_job("seed = 7\n[network]\n" + network + kRest + training, "x.toml");
  const nn::Network made = make_job_network(job);
  const JobData data = load_job_data(job, made);
  MiniBatchQueue queue(data.train, {.mini_batch_size = 16, .formats = data.formats, .outputs = 2});
  const auto batch = queue.next();
  const TrainingState before = initial_training_state(made, job.training);
  return training_step(job.training, job.seed, made)(before, batch[0], targets_of(made, data, batch), 0.25f)
      .after.parameters;
}

std::string print_of(const Tree& tree) { return fingerprint(tree, Tree()); }

TEST(LayeredJob, LayersAreTrainedByTheirFactors) {
  const std::string sgdm = "solver = \"sgdm\"\nmomentum = 0.0\n";
  const Tree start = make_job_network(job_with(with_factors("", "", ""))).parameters;
  const Tree plain = after_a_step(with_factors("", "", ""), sgdm);
  const Tree made =
      after_a_step(with_factors(", frozen = true", ", learn_rate_factor = 2", ", learn_rate_factor = 0"), sgdm);
  EXPECT_EQ(print_of(made["conv2d_1"]), print_of(start["conv2d_1"]));
  EXPECT_EQ(print_of(made["class"]), print_of(start["class"]));
  EXPECT_EQ(print_of(made["batch_norm_1"]), print_of(plain["batch_norm_1"]));
  // Twice the rate is a power of two: the step is twice as long, but for the rounding of the difference.
  const auto w0 = start["linear_1"]["weights"].tensor().to_vector<float>();
  const auto w1 = plain["linear_1"]["weights"].tensor().to_vector<float>();
  const auto w2 = made["linear_1"]["weights"].tensor().to_vector<float>();
  for (size_t i = 0; i < w0.size(); ++i) EXPECT_NEAR(w2[i] - w0[i], 2 * (w1[i] - w0[i]), 1e-6);
}

TEST(LayeredJob, L2FollowsItsFactor) {
  const Tree half = after_a_step(with_factors("", "", ", l2_factor = 0.5"), "l2_regularization = 0.5\n");
  const Tree all = after_a_step(with_factors("", "", ""), "l2_regularization = 0.25\n");
  const Tree whole = after_a_step(with_factors("", "", ""), "l2_regularization = 0.5\n");
  EXPECT_EQ(print_of(half["class"]), print_of(all["class"]));
  EXPECT_EQ(print_of(half["linear_1"]), print_of(whole["linear_1"]));
  EXPECT_NE(print_of(half["class"]), print_of(whole["class"]));
}

TEST(LayeredJob, ABlockGivesItsFactorsToItsLayers) {
  const Job job = job_with(
      "layers = [{repeat = 2, learn_rate_factor = 0.5, layers = [{type = \"linear\", features = 4, learn_rate_factor = "
      "3},\n"
      "{type = \"relu\"}]}, {type = \"linear\", features = 10, frozen = true}]\n");
  const auto factors = make_job_network(job).factors;
  ASSERT_EQ(factors.size(), 3u);
  EXPECT_EQ(factors[1].path, "linear_2");
  EXPECT_EQ(factors[1].learn_rate, 1.5);
  EXPECT_TRUE(factors[2].frozen);
  EXPECT_EQ(job_text(parse_job(job_text(job), "again.toml")), job_text(job));
}

TEST(LayeredJob, ARunFolderHoldsTheNetwork) {
  Job job = job_with(kBranches);
  job.device = "cpu";
  const auto folder = std::filesystem::temp_directory_path() / fmt::format("retrace_layered_job_{}", getpid());
  std::filesystem::remove_all(folder);
  const auto run = train_job(job, {.out = folder});
  const Job kept = read_run_job(folder);
  EXPECT_EQ(fingerprint_of(make_job_network(kept)), fingerprint_of(make_job_network(job)));
  EXPECT_EQ(job_identity(kept), job_identity(job));
  const nn::Network network = make_job_network(kept);
  const auto weights = from_safetensors(read_run_weights(folder), {network.parameters, network.state}, "weights");
  EXPECT_EQ(fingerprint(weights.parameters, weights.state), run.fingerprint);
  std::filesystem::remove_all(folder);
}

TEST(LayeredJob, ANetworkMayHaveAFileOfItsOwn) {
  const auto folder = std::filesystem::temp_directory_path() / fmt::format("retrace_network_file_{}", getpid());
  std::filesystem::create_directories(folder);
  const auto write = [&](const char* name, const std::string& text) { std::ofstream(folder / name) << text; };
  write("net.toml", kPlain);
  write("job.toml", std::string("name = \"x\"\nseed = 7\n[network]\nfile = \"net.toml\"\n") + kRest);
  EXPECT_EQ(job_text(read_job(folder / "job.toml")), job_text(job_with(kPlain)));
  write("net.toml", "layers = [\n  {type = \"rel\"}]\n");
  try {
    read_job(folder / "job.toml");
    ADD_FAILURE();
  } catch (const Error& error) {
    EXPECT_NE(std::string(error.what()).find("net.toml:2:3"), std::string::npos) << error.what();
  }
  std::filesystem::remove(folder / "net.toml");
  EXPECT_THROW(read_job(folder / "job.toml"), Error);
  std::filesystem::remove_all(folder);
}

// One state of the solver for each group; the run is the same with two workers.
TEST(LayeredJob, GroupsTrainInAJob) {
  Job job = job_with(with_factors(", frozen = true", ", learn_rate_factor = 0.1", ""));
  job.device = "cpu", job.training.shards = 2;
  const auto once = train_job(job, {.write_run = false});
  job.workers = 2;
  EXPECT_EQ(train_job(job, {.write_run = false}).fingerprint, once.fingerprint);
}

}  // namespace
}  // namespace retrace
