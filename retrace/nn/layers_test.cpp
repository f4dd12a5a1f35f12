#include "retrace/nn/layers.h"

#include <gtest/gtest.h>

namespace retrace::nn {
namespace {

using Floats = std::vector<float>;

std::string error_text(const std::function<void()>& f) {
  try {
    f();
  } catch (const Error& error) {
    return error.what();
  }
  return "";
}

std::vector<std::string> paths(const Tree& tree) {
  std::vector<std::string> names;
  for (const auto& [path, tensor] : leaves(tree)) names.push_back(path + " " + tensor.shape().text());
  return names;
}

TEST(Layer, names_its_parameters_by_kind_and_number) {
  const Sequential layers{image_input({6, 6, 2}),
                          conv2d(3, 4, {.padding = same}),
                          batch_norm(),
                          relu(),
                          conv2d({1, 2}, 4, {.groups = 2}, {.bias = false}).named("last"),
                          linear(3),
                          linear(5)};
  const auto [parameters, state] = layers.initial(random_key(1));
  EXPECT_EQ(paths(parameters),
            (std::vector<std::string>{"batch_norm_1/offset [4]", "batch_norm_1/scale [4]", "conv2d_1/bias [4]",
                                      "conv2d_1/weights [3,3,2,4]", "last/weights [1,2,2,4]", "linear_1/bias [3]",
                                      "linear_1/weights [3,120]", "linear_2/bias [5]", "linear_2/weights [5,3]"}));
  EXPECT_EQ(paths(state), (std::vector<std::string>{"batch_norm_1/mean [4]", "batch_norm_1/variance [4]"}));
}

TEST(Layer, a_container_adds_a_level_only_if_it_is_named) {
  const Layer stage = repeat(2, {linear(3), relu()});
  const auto [parameters, state] = Sequential{stage.named("stage"), stage}.initial({4}, random_key(1));
  EXPECT_EQ(paths(parameters), (std::vector<std::string>{"linear_1/bias [3]", "linear_1/weights [3,3]",
                                                         "linear_2/bias [3]", "linear_2/weights [3,3]",
                                                         "stage/linear_1/bias [3]", "stage/linear_1/weights [3,4]",
                                                         "stage/linear_2/bias [3]", "stage/linear_2/weights [3,3]"}));
  EXPECT_TRUE(state.empty());
}

TEST(Layer, forward_is_the_ops_with_those_parameters) {
  const Sequential layers{conv2d(1, 2),
                          batch_norm(),
                          relu(),
                          transposed_conv2d(2, 1, {.stride = 2}),
                          max_pool2d(2, {.stride = 2}),
                          average_pool2d(2, {.stride = 1}),
                          global_average_pool2d(),
                          linear(2),
                          clipped_relu(1),
                          softmax()};
  auto [parameters, state] = layers.initial({2, 2, 1}, random_key(3));
  const Tensor x = Tensor::from<float>({1, 2, 3, 4, -1, 5, 2, 0}, {2, 2, 2, 1}, "BSSC");
  const auto [y, moments] = layers.forward(x, parameters, state, Phase::train);
  EXPECT_EQ(y.tensor().spec().text(), "f32[2,2] \"BC\"");
  const auto values = y.tensor().to_vector<float>();
  EXPECT_NEAR(values[0] + values[1], 1, 1e-6);
  EXPECT_EQ(moments["batch_norm_1"].mark(), "moments");
  EXPECT_EQ(moments["batch_norm_1"]["mean"].tensor().size(), 2);
  const Tree next = update_statistics(state, moments);
  check_same_structure(state, next, "test");
  EXPECT_TRUE(layers.forward(x, parameters, next, Phase::inference).moments.empty());
}

TEST(Layer, composes_by_sum_and_by_name) {
  const Tensor x = Tensor::from<float>({-1, 2}, {1, 2}, "BC");
  EXPECT_EQ(residual(relu()).forward(x, {}, {}, Phase::inference).y.tensor().to_vector<float>(), (Floats{-1, 4}));
  EXPECT_EQ(residual(relu(), relu()).forward(x, {}, {}, Phase::inference).y.tensor().to_vector<float>(),
            (Floats{0, 4}));
  // Layers in braces are one after another, as in a Sequential.
  const Layer braces = residual({relu(), leaky_relu()}), sequential = residual(Sequential{relu(), leaky_relu()});
  EXPECT_EQ(braces.forward(x, {}, {}, Phase::inference).y.tensor().to_vector<float>(),
            sequential.forward(x, {}, {}, Phase::inference).y.tensor().to_vector<float>());
  const Tree y = parallel({{"a", relu()}, {"b", residual(relu())}}).forward(x, {}, {}, Phase::inference).y;
  EXPECT_EQ(y["a"].tensor().to_vector<float>(), (Floats{0, 2}));
  EXPECT_EQ(y["b"].tensor().to_vector<float>(), (Floats{-1, 4}));
}

TEST(Layer, draws_by_name_so_that_order_and_neighbours_do_not_matter) {
  const auto first = Sequential{linear(3).named("a"), linear(3).named("b")}.initial({3}, random_key(7)).parameters;
  const auto second =
      Sequential{linear(3).named("b"), relu(), linear(3).named("a"), linear(9)}.initial({3}, random_key(7)).parameters;
  EXPECT_EQ(first["a"]["weights"].tensor().to_vector<float>(), second["a"]["weights"].tensor().to_vector<float>());
  EXPECT_EQ(first["b"]["weights"].tensor().to_vector<float>(), second["b"]["weights"].tensor().to_vector<float>());
  EXPECT_NE(first["a"]["weights"].tensor().to_vector<float>(), first["b"]["weights"].tensor().to_vector<float>());
  const auto other = Sequential{linear(3).named("a")}.initial({3}, random_key(8)).parameters;
  EXPECT_NE(first["a"]["weights"].tensor().to_vector<float>(), other["a"]["weights"].tensor().to_vector<float>());
}

TEST(Layer, says_what_is_wrong) {
  const Place place{"net.cpp", 4};
  EXPECT_EQ(error_text([&] { linear(2).initial(random_key(1), place); }),
            "error[RT0191]: the layers do not say the shape of their input\n"
            "  where:    net.cpp:4\n"
            "  help:     begin with nn::image_input({height, width, channels}), or call initial(shape, key)");
  EXPECT_EQ(
      error_text([&] { Sequential{linear(2).named("a"), linear(2).named("a")}.initial({2}, random_key(1), place); }),
      "error[RT0192]: two layers have the name \"a\"\n"
      "  where:    net.cpp:4\n"
      "  help:     name one of them: .named(\"...\"), in a job file name = \"...\"");
  // A name that is the number of a layer without one, before it or behind it.
  for (const Sequential& layers : {Sequential{linear(2).named("linear_1"), relu(), linear(2)},
                                   Sequential{linear(2), relu(), linear(2).named("linear_1")}})
    EXPECT_EQ(
        error_text([&] { layers.initial({2}, random_key(1), place); }),
        "error[RT0192]: two layers have the name \"linear_1\"\n"
        "  where:    net.cpp:4\n"
        "  got:      a layer that was given the name, and one without a name, which is called by kind and number\n"
        "  help:     name one of them: .named(\"...\"), in a job file name = \"...\"");
  EXPECT_EQ(error_text([&] { linear(2).named("a/b"); }),
            "error[RT0190]: \"a/b\" cannot name a layer\n"
            "  expected: some text without /");
  const Tensor x = Tensor::zeros({1, 2}, DType::f32, "BC");
  EXPECT_EQ(error_text([&] { Sequential{linear(2).named("a")}.forward(x, {}, {}, Phase::train, place); }),
            "error[RT0193]: the parameters have no entry \"a/weights\"\n"
            "  where:    net.cpp:4\n"
            "  expected: parameters as made by initial() of the same layers");
  EXPECT_EQ(error_text([&] { conv2d(3, 4, {}, {}, place).initial({5}, random_key(1)); }),
            "error[RT0194]: conv2d: x has 2 axes\n"
            "  where:    net.cpp:4\n"
            "  got:      f32[1,5] \"BC\"\n"
            "  expected: an image [batch,height,width,channels]\n"
            "  help:     put this layer before those that make features, such as linear, and take data of images");
  EXPECT_EQ(error_text([&] { image_input({2, 2, 1}, {}, place).forward(x, {}, {}, Phase::train); }),
            "error[RT0195]: image_input: a sample is not [2,2,1]\n"
            "  where:    net.cpp:4\n"
            "  got:      f32[1,2] \"BC\"\n"
            "  expected: a batch axis, then [2,2,1]");
  EXPECT_EQ(error_text([&] { image_input({}, place).forward(x, {}, {}, Phase::train); }),
            "error[RT0195]: image_input: a sample is no image\n"
            "  where:    net.cpp:4\n"
            "  got:      f32[1,2] \"BC\"\n"
            "  expected: a batch axis, then [height,width,channels]");
  const Tensor image = Tensor::full(3, {1, 2, 5, 1}, DType::f32, "BSSC");
  EXPECT_EQ(image_input({}, place).forward(image, {}, {}, Phase::train).y.tensor().to_vector<float>(),
            image.to_vector<float>());
  EXPECT_EQ(error_text([&] { conv2d(3, 4, {.groups = 3}, {}, place).initial({5, 5, 4}, random_key(1)); }),
            "error[RT0155]: conv2d: x has 4 channels, weights expect 3\n"
            "  where:    net.cpp:4\n"
            "  got:      x f32[1,5,5,4] \"BSSC\", weights f32[3,3,1,4]\n"
            "  expected: channels of x = channels of the weights x groups");
}

}  // namespace
}  // namespace retrace::nn
