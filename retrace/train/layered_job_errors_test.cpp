// What is said of a network of layers that is wrong.

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <gtest/gtest.h>

#include "retrace/base/error.h"
#include "retrace/data/source_kind.h"
#include "retrace/nn/layer_kind.h"
#include "retrace/train/job.h"

namespace retrace {
namespace {

constexpr const char* kSmallRest =
    "[data]\nsource = \"digits\"\ntrain_samples = 32\ntest_samples = 16\n"
    "[training]\nmini_batch_size = 16\nmax_epochs = 1\n";

// A text in which the names of all things of a kind, which become more, are one word.
template <class Kind>
std::string without_names(std::string text, const std::vector<Kind>& kinds, const char* word) {
  std::vector<std::string> names;
  for (const auto& kind : kinds) names.push_back(kind.name);
  const std::string all = fmt::format("{}", fmt::join(names, ", "));
  if (const size_t at = text.find(all); at != std::string::npos) text.replace(at, all.size(), word);
  return text;
}

std::string refusal(const std::string& network, const std::string& rest = kSmallRest) {
  try {
    parse_job("[network]\n" + network + rest, "x.toml");
  } catch (const Error& error) {
    EXPECT_EQ(error.kind(), ErrorKind::usage);
    return without_names(without_names(error.what(), nn::all_layers(), "(layers)"), all_sources(), "(sources)");
  }
  return "";
}

TEST(LayeredJobErrors, TellsAllMistakesAtOnce) {
  EXPECT_EQ(refusal(R"(layers = [
  {type = "conv2", filters = 8},
  {type = "conv2d", filtres = 8, size = "big", padding = "sane"},
  {type = "relu", name = "a", frozen = true},
  {type = "relu", name = "a", from = "b"},
  {type = "add"},
  {repeat = 0, layers = [{type = "linear", features = 0, l2_factor = -1}]},
  {repeat = 2},
]
outputs = [{name = "clas"}]
)"),
            R"(error[RT0440]: layer 1 (conv2): there is no layer type "conv2"
  where:    x.toml:3:3
  help:     did you mean "conv2d"?
error[RT0441]: layer 2 (conv2d): unknown key "filtres"
  where:    x.toml:4:3
  expected: size, filters, stride, padding, dilation, groups, initializer, bias, name, from, learn_rate_factor, l2_factor, frozen
  help:     did you mean "filters"?
error[RT0442]: layer 2 (conv2d): padding has no choice "sane"
  where:    x.toml:4:3
  expected: same, or whole numbers
  help:     did you mean "same"?
error[RT0443]: layer 2 (conv2d): size has another type
  where:    x.toml:4:3
  expected: a whole number, or a list of them
error[RT0444]: layer 2 (conv2d): filters is missing
  where:    x.toml:4:3
  help:     write {type = "conv2d", filters = ...}
error[RT0451]: layer 3 (relu "a"): it has no parameters
  where:    x.toml:5:3
  help:     remove frozen, learn_rate_factor and l2_factor
error[RT0445]: layer 4 (relu "a"): the name "a" stands twice
  where:    x.toml:6:3
  help:     give one of the two another name
error[RT0446]: layer 4 (relu "a"): there is no layer "b" before it
  where:    x.toml:6:3
  expected: input, a
  help:     give that layer a name of its own, name = "...", and take it by this name
error[RT0448]: layer 5 (add): it joins the outputs of several layers
  where:    x.toml:7:3
  expected: from = "NAME", or ["NAME", "NAME"]
error[RT0452]: layer 6 (block): repeat is out of range
  where:    x.toml:8:3
  got:      0
  expected: from 1 to 10000
error[RT0452]: layer 6.1 (linear): l2_factor is out of range
  where:    x.toml:8:26
  got:      -1
  expected: from 0 to 1000000
error[RT0442]: layer 6.1 (linear): features is out of range
  where:    x.toml:8:26
  got:      0
  expected: from 1 to 1000000
error[RT0447]: layer 7 (block): it has no type
  where:    x.toml:9:3
  help:     write type = "...", or layers = [...] of a block
error[RT0458]: data source "digits" has no targets for the output "clas"
  where:    x.toml:11:1
  expected: class, angle
  help:     did you mean "class"?)");
}

TEST(LayeredJobErrors, NamesTheLayerWhoseInputDoesNotFit) {
  EXPECT_EQ(
      refusal("layers = [\n  {type = \"linear\", features = 4},\n  {type = \"conv2d\", size = 3, filters = 2}]\n"),
      R"(error[RT0194]: layer 2 (conv2d): conv2d: x has 2 axes
  where:    x.toml:4:3
  got:      f32[1,4] "BC"
  expected: an image [batch,height,width,channels]
  help:     put this layer before those that make features, such as linear, and take data of images)");
  EXPECT_EQ(refusal("layers = [{type = \"conv2d\", size = [3, 3, 3], filters = 2}]\n"),
            R"(error[RT0453]: layer 1 (conv2d): size has 3 numbers
  where:    x.toml:2:11
  expected: one number, or [height, width])");
  EXPECT_EQ(refusal("layers = [{type = \"conv2d\", size = 3, filters = 2}]\n"),
            R"(error[RT0458]: the output "class" is not class scores
  got:      [1,26,26,2] for a batch of one
  expected: [batch,features]
  help:     end with a linear layer, or make a row of numbers by {type = "flatten"})");
  EXPECT_EQ(refusal("layers = [{type = \"conv2d\", size = 3, filters = 10}, {type = \"global_average_pool2d\"},\n"
                    "  {type = \"flatten\"}]\n"),
            "");
}

// Sizes of images come from the job: layers are made before files are read.
TEST(LayeredJobErrors, NeedsTheSizeOfImages) {
  EXPECT_EQ(refusal("layers = [{type = \"linear\", features = 10}]\n",
                    "[data]\nsource = \"images\"\nimage_height = 32\npath = \"nowhere\"\n"),
            R"(error[RT0459]: a network of layers needs the size of a sample
  where:    x.toml:4:1
  got:      [32,0,0]
  help:     set data.image_width, data.image_channels)");
}

TEST(LayeredJobErrors, NeedsDataAndNoBuiltInNetwork) {
  EXPECT_EQ(refusal("name = \"digits\"\nwidth = 3\nlayers = [{type = \"linear\", features = 10}]\n"),
            R"(error[RT0416]: network.name has a meaning only with a built-in network: without network.layers
  where:    x.toml:2:1
  got:      "digits"
  help:     remove it
error[RT0416]: network.width has a meaning only with a built-in network: without network.layers
  where:    x.toml:3:1
  got:      3
  help:     remove it)");
  EXPECT_EQ(refusal("layers = [{type = \"linear\", features = 10}]\n", ""), R"(error[RT0413]: data.source is missing
  where:    x.toml
  expected: (sources)
  help:     a network of layers needs data: add [data] with source = "...")");
  EXPECT_EQ(refusal("name = \"digits\"\noutputs = [{name = \"class\"}]\n"),
            R"(error[RT0416]: network.outputs has a meaning only with network.layers
  where:    x.toml:3:1
  got:      a list of outputs
  help:     remove it)");
}

TEST(LayeredJobErrors, ATableInAnotherFormIsRefused) {
  EXPECT_EQ(
      refusal("layers = [\"relu\", {type = 3}, {type = \"relu\", x = {}}]\noutputs = [{from = \"x\", los = 1}]\n"),
      R"(error[RT0456]: a layer must be a table: {type = "relu"}
  where:    x.toml:2:11
error[RT0456]: the type of a layer must be a text
  where:    x.toml:2:27
error[RT0456]: x must be true or false, a number, a text, or a list of whole numbers
  where:    x.toml:2:51
error[RT0457]: unknown key "los" of an output
  where:    x.toml:3:31
  expected: name, from, loss, weight, metric, label_smoothing, ignore_index, class_weights
  help:     did you mean "loss"?
error[RT0456]: the name of an output must be that of a target of the data
  where:    x.toml:3:12)");
  EXPECT_EQ(refusal("layers = 3\n"), R"(error[RT0413]: network.layers must be a list of tables, written in a job file
  where:    x.toml:2:1
  got:      3)");
}

TEST(LayeredJobErrors, FreezingAllIsRefused) {
  EXPECT_EQ(refusal("layers = [{type = \"linear\", features = 10, frozen = true}]\n"),
            R"(error[RT0455]: all parameters of the network are frozen
  help:     leave one layer unfrozen)");
}

TEST(LayeredJobErrors, TooManyLayersAreRefused) {
  std::string layers = "{type = \"relu\"}";
  for (int i = 0; i < 8; ++i) layers = "{repeat = 9999, layers = [" + layers + "]}";
  EXPECT_EQ(refusal("layers = [" + layers + "]\n"), R"(error[RT0449]: the network has too many layers
  expected: at most 10000, blocks repeated)");
}

// Also of layers, where other sections have mistakes.
TEST(LayeredJobErrors, OtherMistakesHideNone) {
  const std::string layers = "layers = [{type = \"relux\"}]\n";
  const std::string typo = refusal(layers, std::string(kSmallRest) + "max_epoch = 3\n");
  EXPECT_NE(typo.find("unknown key \"training.max_epoch\""), std::string::npos) << typo;
  EXPECT_NE(typo.find("there is no layer type \"relux\""), std::string::npos) << typo;
  const std::string range = refusal(layers, "[data]\nsource = \"digit\"\n[training]\nmini_batch_size = -1\n");
  EXPECT_NE(range.find("mini_batch_size is out of range"), std::string::npos) << range;
  EXPECT_NE(range.find("data.source has no choice"), std::string::npos) << range;
  EXPECT_NE(range.find("there is no layer type \"relux\""), std::string::npos) << range;
  // Shapes follow from the data, and are told where these are right.
  const std::string narrow = "layers = [{type = \"max_pool2d\", size = 99}, {type = \"linear\", features = 10}]\n";
  const std::string shapes = refusal(narrow, std::string(kSmallRest) + "max_epoch = 3\n");
  EXPECT_NE(shapes.find("unknown key \"training.max_epoch\""), std::string::npos) << shapes;
  EXPECT_NE(shapes.find("layer 1 (max_pool2d)"), std::string::npos) << shapes;
  const std::string unknown = refusal(narrow, "[data]\nsource = \"digits\"\ntrain_sample = 3\n");
  EXPECT_EQ(unknown.find("max_pool2d"), std::string::npos) << unknown;
}

}  // namespace
}  // namespace retrace
