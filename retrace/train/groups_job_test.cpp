// Groups of parameters in jobs and in train_network.

#include <gtest/gtest.h>

#include "retrace/data/datasets.h"
#include "retrace/tensor/fingerprint.h"
#include "retrace/train/job_data.h"
#include "retrace/train/train_job.h"
#include "retrace/train/train_network.h"
#include "retrace/train/training_step.h"
#include "tests/error_testing.h"
#include "tests/temporary_folder.h"

namespace retrace {
namespace {

const std::string kGroupedNetwork =
    "seed = 7\n[network]\nlayers = [{type = \"conv2d\", name = \"stem\", size = 3, filters = 4, stride = 4}, {type = "
    "\"batch_norm\"}, {type = \"relu\"}, {type = \"linear\", name = \"class\", features = 10}]\n"
    "[data]\nsource = \"digits\"\ntrain_samples = 48\ntest_samples = 16\n"
    "[training]\nsolver = \"adamw\"\nmini_batch_size = 16\nmax_epochs = 2\nshards = 4\n";

Job grouped_job(const std::string& rest, const std::vector<JobOverride>& overrides = {}) {
  return parse_job(kGroupedNetwork + rest, "x.toml", overrides);
}

const std::string kGroups =
    "[[training.groups]]\nparameters = [\"*bias\", \"batch_norm*\"]\nweight_decay = 0\n"
    "[[training.groups]]\nparameters = \"stem/*\"\nlearn_rate_factor = 0.25\ngradient_decay = 0.5\n";

std::string print_of_grouped(const Job& job) { return train_job(job, {.write_run = false}).fingerprint; }

TEST(GroupsJob, NoWorkersAndNoAccelerationChangeABit) {
  const std::string first = print_of_grouped(grouped_job(kGroups));
  EXPECT_NE(print_of_grouped(grouped_job("")), first);
  for (const char* acceleration : {"default", "plain"})
    EXPECT_EQ(print_of_grouped(grouped_job(
                  kGroups, {{"training.acceleration", acceleration, ""}, {"workers", "3", ""}, {"threads", "2", ""}})),
              first);
}

// A program with the same groups has the bits of the job.
TEST(GroupsJob, AProgramHasTheSameBits) {
  const Job job = grouped_job(kGroups);
  const nn::Network network = make_job_network(job);
  TrainNetworkOptions options{.training = job.training, .seed = job.seed};
  options.training.groups = {
      {.parameters = {"*bias", "batch_norm*"}, .options = {{"weight_decay", 0}}},
      {.parameters = {"stem/*"}, .learn_rate_factor = 0.25, .options = {{"gradient_decay", 0.5}}}};
  const Datastore data = load_job_data(job, network).train;
  EXPECT_EQ(train_network(data, network, Loss(network.loss), options).info.fingerprint, print_of_grouped(job));
  options.training.groups[1].parameters = {"stm/*"};
  const auto text = error_of([&] { train_network(data, network, Loss(network.loss), options); });
  EXPECT_TRUE(says(text, "groups_job_test.cpp")) << text;
  EXPECT_TRUE(says(text, "did you mean \"stem/*\"?")) << text;
}

// Groups say the same as factors of layers, and both multiply.
TEST(GroupsJob, FactorsAreThoseOfLayers) {
  const auto with = [](const std::string& stem, const std::string& rest) {
    std::string text = kGroupedNetwork + "l2_regularization = 0.5\n" + rest;
    return parse_job(text.replace(text.find("stride = 4"), 10, "stride = 4" + stem), "x.toml");
  };
  const std::string group = "[[training.groups]]\nparameters = \"stem/*\"\n";
  EXPECT_EQ(print_of_grouped(with("", group + "learn_rate_factor = 0.5\nl2_factor = 0.25\n")),
            print_of_grouped(with(", learn_rate_factor = 0.5, l2_factor = 0.25", "")));
  EXPECT_EQ(print_of_grouped(with(", learn_rate_factor = 0.5", group + "learn_rate_factor = 0.5\n")),
            print_of_grouped(with(", learn_rate_factor = 0.25", "")));
  EXPECT_EQ(print_of_grouped(with("", group + "frozen = true\n")), print_of_grouped(with(", frozen = true", "")));
}

TEST(GroupsJob, WhatIsFrozenStays) {
  const Job job = grouped_job("[[training.groups]]\nparameters = \"*bias\"\nfrozen = true\n");
  const auto made = train_job(job, {.write_run = false});
  const Tree start = make_job_network(job).parameters;
  EXPECT_EQ(fingerprint(made.weights.parameters["class"]["bias"], Tree()), fingerprint(start["class"]["bias"], Tree()));
  EXPECT_NE(fingerprint(made.weights.parameters["class"]["weights"], Tree()),
            fingerprint(start["class"]["weights"], Tree()));
}

TEST(GroupsJob, ARunThatWasStoppedGoesOnToTheSameBits) {
  const TemporaryFolder folder;
  Job job = grouped_job(kGroups);
  int steps = 0;
  train_job(job, {.out = folder.path() / "run", .stop = [&] { return ++steps >= 4; }});
  const Job kept = read_job(folder.path() / "run" / "job.toml");
  EXPECT_EQ(job_identity(kept), job_identity(job));
  EXPECT_EQ(train_job(kept, {.resume = folder.path() / "run"}).fingerprint, print_of_grouped(job));
}

TEST(GroupsJob, TheTextReadsBackEqual) {
  const Job job = grouped_job(kGroups);
  EXPECT_EQ(job_text(parse_job(job_text(job), "again.toml")), job_text(job));
  EXPECT_TRUE(says(job_text(job), "{parameters = [\"*bias\", \"batch_norm*\"], weight_decay = 0.0},")) << job_text(job);
  EXPECT_FALSE(says(job_text(grouped_job("")), "groups = ["));
}

TEST(GroupsJob, MistakesAreNamedWithTheirPlaces) {
  const auto refusal = [](const std::string& group, const char* solver = "adamw") {
    return error_of([&] {
      make_job_network(grouped_job("[[training.groups]]\n" + group + "\n", {{"training.solver", solver, ""}}));
    });
  };
  EXPECT_TRUE(says(refusal("parameters = \"*bais\""), "RT0461")) << refusal("parameters = \"*bais\"");
  EXPECT_TRUE(says(refusal("parameters = \"*bais\""), "x.toml:13:1")) << refusal("parameters = \"*bais\"");
  const auto decay = [](const std::string& value) { return "parameters = \"*bias\"\nweight_decay = " + value; };
  EXPECT_TRUE(says(refusal("parameters = \"*bias\"\nweight_decya = 0"), "did you mean \"weight_decay\"?"));
  EXPECT_TRUE(says(refusal(decay("-1")), "RT0465"));
  EXPECT_TRUE(says(refusal(decay("\"no\"")), "RT0465"));
  EXPECT_TRUE(says(refusal(decay("0"), "sgdm"), "training.solver = \"adamw\" or"));
  EXPECT_TRUE(says(refusal("parameters = \"*bias\"\nlearn_rate_factor = -1"), "RT0465"));
  EXPECT_TRUE(says(refusal("paramters = \"*bias\""), "did you mean \"parameters\"?"));
  EXPECT_TRUE(says(refusal("parameters = 3"), "RT0456"));
}

}  // namespace
}  // namespace retrace
