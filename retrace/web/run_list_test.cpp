#include "retrace/web/run_list.h"

#include <fmt/format.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <sys/time.h>

#include <ctime>
#include <fstream>

#include "retrace/report/parting.h"
#include "retrace/train/stop_request.h"
#include "retrace/web/run_json.h"
#include "tests/error_testing.h"
#include "tests/temporary_folder.h"

namespace retrace {
namespace {
namespace fs = std::filesystem;

void write(const fs::path& path, const std::string& text) {
  fs::create_directories(path.parent_path());
  std::ofstream(path, std::ios::binary) << text;
}

std::string steps(int count, int parts_at = 0) {
  std::string lines;
  for (int i = 1; i <= count; ++i)
    lines += fmt::format(
        "{{\"iteration\":{},\"epoch\":1,\"samples\":\"00000000000000{:02x}\",\"loss\":{},\"learn_rate\":0.1}}\n", i, i,
        i == parts_at ? 9 : 10 - i);
  return lines;
}

std::string events(const std::string& end) {
  return "{\"event\":\"started\",\"job\":\"j\",\"device\":\"cpu\",\"workers\":1,\"threads\":2,\"epochs\":2,"
         "\"iterations_per_epoch\":5}\n" +
         end;
}

const char* const kFinished =
    "{\"event\":\"finished\",\"epoch\":2,\"iteration\":10,\"loss\":1,\"seconds\":3,\"metrics\":{},\"stop_reason\":"
    "\"max epochs completed\","
    "\"fingerprint\":\"00000000000000aa\"}\n";

void age(const fs::path& file, int seconds) {
  const timeval past{std::time(nullptr) - seconds, 0}, times[2] = {past, past};
  ASSERT_EQ(::utimes(file.c_str(), times), 0);
}

TEST(RunList, FindsRunsAndSaysHowTheyStand) {
  const TemporaryFolder folder;
  const fs::path runs = folder.path() / "runs";
  write(runs / "a/metrics.jsonl", events(kFinished));
  write(runs / "a/steps.jsonl", steps(10));
  write(runs / "b/metrics.jsonl", events(""));
  write(runs / "b/steps.jsonl", steps(4));
  write(runs / "study/trials/c/metrics.jsonl", events(kFinished));
  write(runs / "x/y/z/too deep/metrics.jsonl", events(kFinished));
  write(runs / "none/text.txt", "");
  RunList list({runs});
  list.refresh();
  ASSERT_EQ(list.runs().size(), 3u);
  EXPECT_EQ(list.find(1)->name, "a");
  EXPECT_EQ(list.find(1)->state, RunState::finished);
  EXPECT_EQ(list.find(1)->same_as, 0);
  EXPECT_EQ(list.find(2)->state, RunState::running);
  EXPECT_EQ(list.find(2)->iteration, 4);
  EXPECT_EQ(list.find(2)->step_loss, 6);
  EXPECT_EQ(list.find(3)->name, "study/trials/c");
  EXPECT_EQ(list.find(3)->same_as, 1);
  EXPECT_EQ(list.find(4), nullptr);

  RunList study({runs / "study", runs / "a"});
  study.refresh();
  ASSERT_EQ(study.runs().size(), 2u);
  EXPECT_EQ(study.find(1)->name, "trials/c");
  EXPECT_EQ(study.find(2)->same_as, 1);

  // A run of which nothing comes any more.
  age(runs / "b/metrics.jsonl", 100), age(runs / "b/steps.jsonl", 100);
  list.refresh();
  EXPECT_EQ(list.find(2)->state, RunState::quiet);
  EXPECT_GE(list.find(2)->written, 99);
  // What came since is read, and new runs are found.
  write(runs / "b/metrics.jsonl", events("{\"event\":\"finished\",\"iteration\":4,\"stop_reason\":\"stopped\","
                                         "\"fingerprint\":\"00000000000000bb\"}\n"));
  write(runs / "d/metrics.jsonl", "");
  for (int i = 0; i < 4; ++i) list.refresh();
  EXPECT_EQ(list.find(2)->state, RunState::stopped);
  ASSERT_EQ(list.runs().size(), 4u);
  EXPECT_EQ(list.find(4)->name, "d");
  EXPECT_NE(run_json(*list.find(4)).text().find("\"loss\":null"), std::string::npos);
}

TEST(RunList, KeepsNotes) {
  const TemporaryFolder folder;
  write(folder.path() / "a/metrics.jsonl", events(kFinished));
  RunList list({folder.path() / "a"});
  list.refresh();
  list.set_note(1, "the one");
  EXPECT_EQ(list.find(1)->note, "the one");
  RunList again({folder.path()});
  again.refresh();
  EXPECT_EQ(again.find(1)->note, "the one");
  again.set_note(1, "");
  EXPECT_FALSE(fs::exists(folder.path() / "a/note.txt"));
  EXPECT_TRUE(
      error_of([&] { again.set_note(1, std::string(5000, 'x')); }).starts_with("error[RT0782]: a note is too long"));
}

TEST(RunList, OfAFolderThatIsNotThere) {
  EXPECT_NE(error_of([] { RunList({"/nowhere/at/all"}); }).find("folder of runs"), std::string::npos);
}

TEST(Parting, IsTheFirstStepThatDiffers) {
  const TemporaryFolder folder;
  write(folder.path() / "a/steps.jsonl", steps(10));
  write(folder.path() / "b/steps.jsonl", steps(8));
  write(folder.path() / "c/steps.jsonl", steps(10, 7));
  write(folder.path() / "torn/steps.jsonl", steps(5) + "{\"iter");
  const auto between = [&](const char* a, const char* b) { return find_parting(folder.path() / a, folder.path() / b); };
  EXPECT_EQ(between("a", "b").common, 8);
  EXPECT_EQ(between("a", "b").iteration, 0);
  EXPECT_EQ(between("a", "c").iteration, 7);
  EXPECT_EQ(between("a", "c").what, "loss");
  EXPECT_EQ(between("a", "torn").common, 5);
  EXPECT_EQ(between("a", "none").common, 0);
}

TEST(StopRequests, ReachTheRunThatGoesOn) {
  const TemporaryFolder folder;
  ask_to_stop(folder.path());
  StopRequests requests;
  RunStarted started;
  started.run_dir = folder.path().string();
  requests.receive(started);
  EXPECT_FALSE(stop_is_asked(folder.path()));  // of the run before
  EXPECT_FALSE(requests.received());
  ask_to_stop(folder.path());
  for (int i = 0; i < 100 && !requests.received(); ++i) ::usleep(100'000);
  EXPECT_TRUE(requests.received());
  requests.receive(RunFinished{});
  EXPECT_FALSE(stop_is_asked(folder.path()));
}

}  // namespace
}  // namespace retrace
