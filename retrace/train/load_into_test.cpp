#include "retrace/train/save.h"

#include <gtest/gtest.h>

#include <cmath>

#include "retrace/nn/layers.h"
#include "retrace/nn/networks.h"
#include "retrace/ops/cast/cast.h"
#include "retrace/ops/operators.h"
#include "retrace/tensor/fingerprint.h"
#include "tests/error_testing.h"
#include "tests/temporary_folder.h"

namespace retrace {
namespace {

nn::Network network(uint64_t seed) {
  const nn::Sequential layers{nn::conv2d(3, 2).named("stem"), nn::batch_norm(), nn::relu(),
                              nn::global_average_pool2d(),    nn::linear(4),    nn::softmax()};
  return nn::make_network(random_key(seed), layers, {5, 5, 3}, {{.name = "class"}});
}

// The axes of an array in another order: axis k of the result is axis axes[k].
Tensor permuted(const Tensor& x, const std::vector<int>& axes) {
  const auto values = x.to_vector<float>();
  std::vector<int64_t> sizes;
  for (const int axis : axes) sizes.push_back(x.shape()[axis]);
  std::vector<float> made(values.size());
  for (size_t to = 0; to < made.size(); ++to) {
    std::vector<int64_t> index(axes.size());
    auto rest = static_cast<int64_t>(to);
    for (size_t k = axes.size(); k-- > 0; rest /= sizes[k]) index[static_cast<size_t>(axes[k])] = rest % sizes[k];
    int64_t from = 0;
    for (int k = 0; k < x.rank(); ++k) from = from * x.shape()[k] + index[static_cast<size_t>(k)];
    made[to] = values[static_cast<size_t>(from)];
  }
  return Tensor::from(made, Shape(sizes));
}

std::string prints(const nn::Network& network) {
  return fingerprint(Tree{{"parameters", network.parameters}, {"state", network.state}});
}

class LoadInto : public testing::Test {
 protected:
  std::string file(const std::string& name) const { return (folder_ / name).string(); }
  // What PyTorch's state_dict of `from` is.
  static Tree state_dict(const nn::Network& from) {
    const Tree &p = from.parameters, &s = from.state;
    return {{"conv1.weight", permuted(p["stem"]["weights"], {3, 2, 0, 1})},
            {"conv1.bias", p["stem"]["bias"]},
            {"bn1.weight", p["batch_norm_1"]["scale"]},
            {"bn1.bias", p["batch_norm_1"]["offset"]},
            {"bn1.running_mean", s["batch_norm_1"]["mean"]},
            {"bn1.running_var", s["batch_norm_1"]["variance"]},
            {"bn1.num_batches_tracked", Tensor::scalar(100)},
            {"fc.weight", p["linear_1"]["weights"]},
            {"fc.bias", p["linear_1"]["bias"]}};
  }
  LoadOptions pytorch() const {
    return {.names = {{"stem", "conv1"}, {"batch_norm_1", "bn1"}, {"linear_1", "fc"}}, .layout = "pytorch"};
  }
  TemporaryFolder folder_;
};

TEST_F(LoadInto, TakesItsOwnFiles) {
  const nn::Network from = network(1), to = network(2);
  const Tree both{{"parameters", from.parameters}, {"state", from.state}};
  ASSERT_NE(prints(from), prints(to));
  for (const std::string name : {"run.safetensors", "run.npz"}) {
    save(both, file(name));
    EXPECT_EQ(prints(load_into(to, file(name))), prints(from));
  }
}

TEST_F(LoadInto, TakesAStateDict) {
  const nn::Network from = network(1);
  for (const std::string name : {"torch.safetensors", "torch.npz"}) {
    save(state_dict(from), file(name));
    EXPECT_EQ(prints(load_into(network(2), file(name), pytorch())), prints(from));
  }
}

TEST_F(LoadInto, TakesWeightsOfKeras) {
  const nn::Network from = network(1);
  const Tree &p = from.parameters, &s = from.state;
  save({{"stem", Tree{{"kernel", p["stem"]["weights"]}, {"bias", p["stem"]["bias"]}}},
        {"bn", Tree{{"gamma", p["batch_norm_1"]["scale"]},
                    {"beta", p["batch_norm_1"]["offset"]},
                    {"moving_mean", s["batch_norm_1"]["mean"]},
                    {"moving_variance", s["batch_norm_1"]["variance"]}}},
        {"dense_kernel", permuted(p["linear_1"]["weights"], {1, 0})},
        {"dense_bias", p["linear_1"]["bias"]}},
       file("keras.npz"));
  const LoadOptions options{
      .names = {{"batch_norm_1", "bn"}, {"linear_1/weights", "dense_kernel"}, {"linear_1/bias", "dense_bias"}},
      .layout = "keras"};
  EXPECT_EQ(prints(load_into(network(2), file("keras.npz"), options)), prints(from));
}

TEST_F(LoadInto, RoundsBinary64) {
  const nn::Network from = network(1);
  Tree wide = state_dict(from);
  std::vector<double> values{0.1, 1e-50, -3.0, 1.0000000596046448};
  wide["fc.bias"] = Tensor::from(values, {4});
  save(wide, file("wide.npz"));
  EXPECT_EQ(load_into(from, file("wide.npz"), pytorch()).parameters["linear_1"]["bias"].tensor().to_vector<float>(),
            (std::vector<float>{0.1f, 0.0f, -3.0f, 1.0f}));
}

TEST_F(LoadInto, TakesHalves) {
  const nn::Network from = network(1);
  const Tensor bias = Tensor::from(std::vector<float>{0.1f, -3.0f, 1e-6f, 7.5f}, {4});
  for (const DType type : {DType::bf16, DType::f16}) {
    Tree narrow = state_dict(from);
    narrow["fc.bias"] = cast(bias, type);
    narrow["conv1.weight"] = cast(narrow["conv1.weight"].tensor(), type);
    save(narrow, file("half.safetensors"));
    const auto loaded = load_into(from, file("half.safetensors"), pytorch()).parameters;
    EXPECT_EQ(loaded["linear_1"]["bias"].tensor().to_vector<float>(),
              cast(cast(bias, type), DType::f32).to_vector<float>());
    EXPECT_EQ(loaded["stem"]["weights"].tensor().to_vector<float>(),
              cast(cast(from.parameters["stem"]["weights"].tensor(), type), DType::f32).to_vector<float>());
  }
}

TEST_F(LoadInto, ListsAllThatDoesNotFit) {
  const nn::Network from = network(1);
  Tree other = state_dict(from), changed;
  for (const auto& [name, tensor] : leaves(other))
    if (name != "bn1.bias" && name != "fc.bias") changed[name] = tensor;
  changed["fc.biases"] = Tensor::from({1.0f}, {1});
  changed["conv1.weight"] = from.parameters["stem"]["weights"].tensor();
  changed["conv1.bias"] = Tensor::from({1.0f, INFINITY}, {2});
  save(changed, file("w.npz"));
  const auto problem = [&](const LoadOptions& options) {
    return error_of([&] { load_into(from, file("w.npz"), options, Place()); });
  };
  const std::string misfits =
      "conv1.bias holds a NaN or an infinity, conv1.weight is F32[3,3,3,2], not F32[2,3,3,3] (for stem/weights)";
  const std::string begin =
      "error[RT0659]: the tensors of \"" + file("w.npz") + "\" do not fit network \"" + from.name + "\": ";
  const std::string help =
      "\n  help:     the option names says what the file calls a layer or tensor, layout whose names it has, and "
      "partial "
      "takes what is there";
  EXPECT_EQ(problem(pytorch()),
            begin +
                "missing are bn1.bias (for batch_norm_1/offset), fc.bias (for linear_1/bias); unexpected are "
                "fc.biases; " +
                misfits + help);
  LoadOptions partial = pytorch();
  partial.partial = true;
  EXPECT_EQ(problem(partial), begin + misfits + help);
  EXPECT_TRUE(says(problem({.partial = true}), "missing are batch_norm_1/offset, "));  // nothing of it is there
}

TEST_F(LoadInto, KeepsWhatAPartOfAFileLacks) {
  const nn::Network from = network(1), to = network(2);
  save({{"conv1.weight", state_dict(from)["conv1.weight"]}, {"head.weight", Tensor::scalar(1.0f)}}, file("part.npz"));
  LoadOptions partial = pytorch();
  partial.partial = true;
  const nn::Network made = load_into(to, file("part.npz"), partial);
  EXPECT_EQ(fingerprint(made.parameters["stem"]["weights"]), fingerprint(from.parameters["stem"]["weights"]));
  EXPECT_EQ(fingerprint(made.parameters["linear_1"]), fingerprint(to.parameters["linear_1"]));
}

TEST_F(LoadInto, RefusesWrongOptions) {
  const nn::Network to = network(2);
  EXPECT_EQ(error_of([&] { load_into(to, file("x.npz"), {.layout = "pytorh"}, Place()); }),
            "error[RT0660]: load_into: there is no layout \"pytorh\"\n  expected: retrace, pytorch, keras\n"
            "  help:     did you mean \"pytorch\"?");
  EXPECT_EQ(error_of([&] { load_into(to, file("x.npz"), {.names = {{"steam", "conv1"}}}, Place()); }),
            "error[RT0661]: load_into: network \"" + to.name +
                "\" has no \"steam\"\n"
                "  expected: a layer or tensor of the network, then its name in the file\n"
                "  help:     did you mean \"stem\"?");
}

}  // namespace
}  // namespace retrace
