// Layers that are frozen: what is computed, and what is left out.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <regex>

#include "retrace/run/plan_cache.h"
#include "retrace/tensor/fingerprint.h"
#include "retrace/train/job_data.h"
#include "retrace/train/train_job.h"

namespace retrace {
namespace {

Job job_with(const std::string& frozen, const std::vector<JobOverride>& overrides = {}) {
  return parse_job(
      "seed = 7\n[network]\nlayers = [{type = \"conv2d\", name = \"a\", size = 3, filters = 2, stride = 4" + frozen +
          "}, {type = \"relu\"}, {type = \"conv2d\", name = \"b\", size = 3, filters = 3, "
          "stride = 2" +
          frozen +
          "}, {type = \"relu\"},\n"
          "{type = \"linear\", name = \"class\", features = 10}]\n"
          "[data]\nsource = \"digits\"\ntrain_samples = 40\ntest_samples = 16\n"
          "[training]\nmini_batch_size = 8\nmax_epochs = 2\nshards = 3\n",
      "x.toml", overrides);
}

int64_t count(const std::string& text, const std::string& part) {
  int64_t found = 0;
  for (size_t at = text.find(part); at != text.npos; at = text.find(part, at + 1)) ++found;
  return found;
}

TEST(Frozen, NoWorkersAndNoAccelerationChangeABit) {
  for (const char* accumulate : {"1", "2"}) {
    std::string first;
    for (const char* acceleration : {"accelerated", "default", "plain"})
      for (const char* workers : {"1", "3"}) {
        const auto made = train_job(job_with(", frozen = true", {{"training.acceleration", acceleration, ""},
                                                                 {"training.accumulate", accumulate, ""},
                                                                 {"workers", workers, ""}}),
                                    {.write_run = false});
        if (first.empty()) first = made.fingerprint;
        EXPECT_EQ(made.fingerprint, first) << acceleration << " " << workers;
        const Tree start = make_job_network(job_with("")).parameters;
        for (const char* layer : {"a", "b"})
          EXPECT_EQ(fingerprint(made.weights.parameters[layer], Tree()), fingerprint(start[layer], Tree()));
        EXPECT_NE(fingerprint(made.weights.parameters["class"], Tree()), fingerprint(start["class"], Tree()));
      }
  }
}

TEST(Frozen, NothingIsComputedForTheirGradients) {
  const std::string all = describe_plan(job_with("")), rest = describe_plan(job_with(", frozen = true"));
  EXPECT_GT(count(all, "conv2d_filter_gradient"), 0);
  EXPECT_EQ(count(rest, "conv2d_filter_gradient"), 0) << rest;
  EXPECT_EQ(count(rest, "conv2d_input_gradient"), 0) << rest;
}

std::string without_times(const std::string& text) { return std::regex_replace(text, std::regex(" *[0-9.]+ ms"), ""); }

// The two plans of an iteration that accumulates; the last one that a step makes is that of the update.
TEST(DescribePlan, OfAccumulatedGradientsHasBothPlans) {
  const Job job = job_with("", {{"training.accumulate", "2", ""}, {"validation.data", "none", ""}});
  std::string update;
  train_job(job, {.write_run = false, .stop = [&] {
                    update = last_plan()->text();
                    return true;
                  }});
  const std::string text = describe_plan(job), marker = "then the step:\n\n";
  EXPECT_TRUE(text.starts_with("for each of the 2 mini-batches of an iteration, its gradients:\n\n"));
  ASSERT_NE(text.find(marker), text.npos);
  EXPECT_EQ(without_times(text.substr(text.find(marker) + marker.size())), without_times(update));
  EXPECT_EQ(count(text.substr(0, text.find(marker)), "adam"), 0) << "the solver is in the second";
}

}  // namespace
}  // namespace retrace
