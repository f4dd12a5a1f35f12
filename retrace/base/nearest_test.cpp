#include "retrace/base/nearest.h"

#include <gtest/gtest.h>

#include "retrace/base/error.h"

namespace retrace {
namespace {

const std::vector<std::string> kKeys{"solver",          "max_epochs",         "max_iterations",
                                     "mini_batch_size", "initial_learn_rate", "momentum"};

TEST(Nearest, IgnoresCaseAndStaysNear) {
  EXPECT_EQ(nearest("ADAM", {"sgdm", "adam"}), "adam");
  EXPECT_EQ(nearest("TRAINING.MAX_EPOCHS", {"training.max_epochs"}), "training.max_epochs");
  EXPECT_EQ(nearest("training.metrics", {"training.shards"}), "");
  EXPECT_EQ(nearest("no", {"mnt"}), "");
  EXPECT_EQ(nearest(std::string(900000, 'k'), {"kk"}), "");
}

TEST(Nearest, CountsSwappedNeighboursOnce) {
  EXPECT_EQ(nearest("rleu", {"elu", "relu"}), "relu");
  EXPECT_EQ(nearest("linaer", {"line", "linear"}), "linear");
  EXPECT_EQ(nearest("ab", {"xx", "ba"}), "ba");
  EXPECT_EQ(nearest("tnah", {"tan", "tanh"}), "tanh");
}

TEST(Nearest, FindsNamesOfOtherFrameworks) {
  EXPECT_EQ(nearest("optimizer", kKeys), "solver");
  EXPECT_EQ(nearest("LR", kKeys), "initial_learn_rate");
  EXPECT_EQ(name_elsewhere("learning_rate", kKeys), "initial_learn_rate");
  EXPECT_EQ(nearest("--lr", {"--learn-rate", "--seed"}), "--learn-rate");
  EXPECT_EQ(nearest("-o", {"--out", "--json"}), "--out");
  EXPECT_EQ(nearest("evaluate", {"train", "test"}), "test");
  EXPECT_EQ(name_elsewhere("test_split", {"test_part", "test_share"}), "test_share");
  EXPECT_EQ(nearest("return_sequences", {"features", "last"}), "last");
  EXPECT_EQ(nearest("conv2d_transpose", {"conv2d", "transposed_conv2d"}), "transposed_conv2d");
  EXPECT_EQ(name_elsewhere("learning_rate", {"solver"}), "");
  EXPECT_EQ(name_elsewhere("sovler", kKeys), "");
}

TEST(Nearest, PassesOverSeparators) {
  const std::vector<std::string> layers{"max_pool2d", "global_average_pool2d", "transposed_conv2d", "cross-entropy"};
  EXPECT_EQ(nearest("MaxPool2d", layers), "max_pool2d");
  EXPECT_EQ(nearest("GlobalAveragePooling2D", layers), "global_average_pool2d");
  EXPECT_EQ(nearest("ConvTranspose2d", layers), "transposed_conv2d");
  EXPECT_EQ(nearest("cross_entropy", layers), "cross-entropy");
  EXPECT_EQ(nearest("CategoricalCrossentropy", layers), "cross-entropy");
}

TEST(Nearest, FindsNamesOfMoreWords) {
  EXPECT_EQ(nearest("epochs", kKeys), "max_epochs");
  EXPECT_EQ(nearest("batch_size", kKeys), "mini_batch_size");
  EXPECT_EQ(nearest("learn_rate", kKeys), "initial_learn_rate");
  EXPECT_EQ(nearest("rate_learn", kKeys), "");
}

}  // namespace
}  // namespace retrace
