// Several schedules in a job file.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "retrace/base/error.h"
#include "retrace/train/job.h"

namespace retrace {
namespace {

std::string on_digits(const std::string& rest) { return "[network]\nname = \"digits\"\n" + rest; }

TEST(JobSchedules, FollowEachOther) {
  const Job job = parse_job(on_digits("[training]\nschedule = 'warm-up,cosine'\nwarm_up_iterations = 7\n"), "x.toml");
  EXPECT_EQ(job.training.schedule, "warm-up, cosine");
  const std::string text = job_text(job);
  for (const char* line :
       {"schedule = \"warm-up, cosine\"", "schedule_iterations = []", "warm_up_iterations = 7", "final_factor = 0.0"})
    EXPECT_NE(text.find(fmt::format("\n{}\n", line)), std::string::npos) << line;
  EXPECT_EQ(job_text(parse_job(text, "run/job.toml")), text);
  const auto overrides = [](const std::vector<std::string>& settings) {
    std::vector<JobOverride> all;
    for (const auto& setting : settings) all.push_back(parse_override(setting));
    return all;
  };
  const Job given =
      parse_job(text, "x.toml",
                overrides({"training.schedule=warm-up, cosine, linear", "training.schedule_iterations=[50, 60]"}));
  EXPECT_EQ(given.training.options.integers("schedule_iterations"), (std::vector<int64_t>{50, 60}));
  EXPECT_NE(job_text(given).find("schedule_iterations = [50, 60]\n"), std::string::npos);
  EXPECT_EQ(job_text(parse_job(job_text(given), "x.toml")), job_text(given));
  const std::string one = job_text(parse_job(job_text(given), "x.toml", overrides({"training.schedule=cosine"})));
  EXPECT_EQ(one.find("schedule_iterations"), std::string::npos);
  EXPECT_EQ(one.find("warm_up_iterations"), std::string::npos);
}

TEST(JobSchedules, ThatCannotFollowEachOther) {
  const auto refusal = [](const std::string& keys) -> std::string {
    try {
      parse_job(on_digits("[training]\n" + keys), "x.toml");
    } catch (const Error& error) {
      return error.what();
    }
    return "no error";
  };
  EXPECT_EQ(refusal("schedule = 'cosine, linear'"),
            "error[RT0391]: the schedule \"cosine\" has no length of its own\n  where:    x.toml:4:1\n"
            "  got:      \"cosine, linear\"\n"
            "  help:     set schedule_iterations: the iterations of each schedule but the last");
  EXPECT_EQ(refusal("schedule = 'cosine, linear'\nschedule_iterations = [3, 4]"),
            "error[RT0390]: schedule_iterations has not one number for each schedule but the last\n"
            "  where:    x.toml:5:1\n  got:      [3, 4]\n  expected: 1 for \"cosine, linear\"");
  EXPECT_EQ(refusal("schedule = 'cosine, linear'\nschedule_iterations = [0]"),
            "error[RT0414]: training.schedule_iterations is out of range\n  where:    x.toml:5:1\n  got:      [0]\n"
            "  expected: from 1 to 1000000000");
  EXPECT_EQ(refusal("schedule = 'cosine, linear'\nschedule_iterations = 2.5"),
            "error[RT0413]: training.schedule_iterations must be a whole number or a list of whole numbers\n"
            "  where:    x.toml:5:1\n  got:      2.5");
  EXPECT_EQ(
      refusal("schedule_iterations = 5"),
      "error[RT0416]: training.schedule_iterations has a meaning only with several schedules: training.schedule = "
      "\"warm-up, cosine\"\n  where:    x.toml:4:1\n  got:      5\n  help:     remove it");
  EXPECT_NE(refusal("schedule = 'warm-up, cosin'").find("training.schedule has no choice \"cosin\""),
            std::string::npos);
}

}  // namespace
}  // namespace retrace
