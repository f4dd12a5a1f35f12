#include "retrace/web/progress_monitor.h"

#include <gtest/gtest.h>

#include <thread>

#include "retrace/report/run_series.h"
#include "retrace/train/stop_request.h"
#include "retrace/web/page_files.h"
#include "retrace/web/run_json.h"
#include "retrace/web/run_list.h"
#include "tests/error_testing.h"
#include "tests/temporary_folder.h"

namespace retrace {
namespace {

ProgressMonitorOptions in(const std::filesystem::path& folder) {
  ProgressMonitorOptions options;
  options.metrics = {"loss"}, options.info = {"epoch"}, options.out = folder.string(), options.page = false;
  return options;
}

ListedRun listed(const std::filesystem::path& folder) {
  RunList list({folder});
  list.refresh();
  return *list.find(1);
}

TEST(TrainingProgressMonitor, KeepsWhatItIsTold) {
  const TemporaryFolder folder;
  {
    TrainingProgressMonitor monitor(in(folder / "run"));
    for (int step = 1; step <= 1000; ++step) monitor.record_metrics(step, {{"loss", 1.0 / step}, {"accuracy", 0.5}});
    monitor.update_info({{"epoch", "1 of 2"}, {"workers", "3"}});
    monitor.group("quality", {"accuracy"});
    monitor.set_log_scale("loss");
    monitor.set_progress(50);
    monitor.set_status("halfway");
    EXPECT_EQ(monitor.data("loss").size(), 1000u);
    EXPECT_EQ(monitor.data("loss")[9], (std::pair<double, double>(10, 0.1)));
    EXPECT_TRUE(monitor.data("nothing").empty());
    EXPECT_EQ(monitor.url(), "");
    EXPECT_FALSE(monitor.stop());
    EXPECT_EQ(monitor.trouble(), "");
    EXPECT_GT(monitor.seconds(), 0);
  }
  const ListedRun run = listed(folder / "run");
  EXPECT_EQ(run.state, RunState::finished);
  EXPECT_EQ(run.iteration, 1000);
  ASSERT_TRUE(run.standing.told);
  EXPECT_EQ(run.standing.told->progress, 50);
  EXPECT_EQ(run.standing.told->status, "halfway");
  EXPECT_EQ(run.standing.told->info[1], (std::pair<std::string, std::string>("workers", "3")));
  EXPECT_EQ(run.standing.told->groups[0], (std::pair<std::string, std::string>("accuracy", "quality")));
  EXPECT_EQ(run.standing.told->logarithmic, std::vector<std::string>{"loss"});
  EXPECT_NE(run_json(run).text().find("\"epoch\":\"1 of 2\""), std::string::npos);
  const auto series = run_series(folder / "run");
  series->refresh();
  const auto buckets = series->read("loss", 10, 10, 5);
  ASSERT_EQ(buckets.size(), 1u);
  EXPECT_EQ(buckets[0].mean, 0.1);
}

// What is in the file while the loop goes on, however much came since the fields changed.
TEST(TrainingProgressMonitor, IsReadFromTheEndOfItsFile) {
  const TemporaryFolder folder;
  TrainingProgressMonitor monitor(in(folder / "run"));
  monitor.set_status("begun");
  for (int step = 1; step <= 20'000; ++step) monitor.record_metrics(step, {{"loss", 1}});
  for (int i = 0; i < 100 && listed(folder / "run").iteration < 20'000; ++i)
    std::this_thread::sleep_for(std::chrono::milliseconds(20));
  const ListedRun run = listed(folder / "run");
  EXPECT_EQ(run.iteration, 20'000);
  ASSERT_TRUE(run.standing.told);
  EXPECT_EQ(run.standing.told->status, "begun");
  EXPECT_EQ(run.state, RunState::running);
}

TEST(TrainingProgressMonitor, IsUsedByManyThreads) {
  const TemporaryFolder folder;
  TrainingProgressMonitor monitor(in(folder / "run"));
  std::vector<std::thread> workers;
  for (int w = 0; w < 4; ++w)
    workers.emplace_back([&, w] {
      for (int step = 0; step < 200; ++step) {
        monitor.record_metrics(step, {{"loss_" + std::to_string(w), step}});
        monitor.update_info({{"worker " + std::to_string(w), std::to_string(step)}});
      }
    });
  for (auto& worker : workers) worker.join();
  for (int w = 0; w < 4; ++w) EXPECT_EQ(monitor.data("loss_" + std::to_string(w)).size(), 200u);
}

TEST(TrainingProgressMonitor, IsStoppedByARequest) {
  const TemporaryFolder folder;
  TrainingProgressMonitor monitor(in(folder / "run"));
  ask_to_stop(folder / "run");
  for (int i = 0; i < 100 && !monitor.stop(); ++i) std::this_thread::sleep_for(std::chrono::milliseconds(50));
  EXPECT_TRUE(monitor.stop());
}

TEST(TrainingProgressMonitor, ServesAPage) {
  if (page_files().empty()) GTEST_SKIP() << "built without the page";
  const TemporaryFolder folder;
  auto options = in(folder / "run");
  options.page = true;
  const TrainingProgressMonitor monitor(options);
  EXPECT_TRUE(monitor.url().starts_with("http://127.0.0.1:")) << monitor.url();
}

TEST(TrainingProgressMonitor, RefusesWhatIsNoName) {
  const TemporaryFolder folder;
  auto options = in(folder / "run");
  options.metrics = {"loss", "loss"};
  EXPECT_TRUE(
      error_of([&] { TrainingProgressMonitor{options}; }).starts_with("error[RT0786]: two metrics have one name"));
  options.metrics = {"1loss"};
  EXPECT_TRUE(
      error_of([&] { TrainingProgressMonitor{options}; }).starts_with("error[RT0785]: this is no name of a metric"));
  options.metrics = {}, options.name = "../x";
  EXPECT_TRUE(error_of([&] { TrainingProgressMonitor{options}; }).starts_with("error[RT0789]"));
  TrainingProgressMonitor monitor(in(folder / "run"));
  EXPECT_TRUE(error_of([&] { monitor.set_progress(101); }).starts_with("error[RT0788]"));
  EXPECT_TRUE(error_of([&] { monitor.record_metrics(NAN, {{"loss", 1}}); }).starts_with("error[RT0787]"));
  EXPECT_TRUE(error_of([&] { TrainingProgressMonitor{in(folder / "run")}; }).starts_with("error[RT0521]"));
}

}  // namespace
}  // namespace retrace
