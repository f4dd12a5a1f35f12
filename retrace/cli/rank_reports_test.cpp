// What a launcher of ranks says, and what ranks say through it.
#include "retrace/cli/rank_reports.h"

#include <gtest/gtest.h>

namespace retrace::cli {
namespace {

TEST(RankReports, AreTakenOutOfTheTextWhereverItIsCut) {
  const std::string whole =
      "one\n\x1eretrace here 0 2 node1\ntwo\x1eretrace here 1 2 node2\n\x1eretrace lost 1\n\x1eother\nthree";
  for (size_t cut = 0; cut <= whole.size(); ++cut) {
    RankReports reports;
    std::string text = reports.take(whole.substr(0, cut));
    text += reports.take(whole.substr(cut));
    text += reports.rest();
    EXPECT_EQ(text, "one\ntwo\x1eother\nthree") << cut;
    EXPECT_TRUE(reports.all_here() && reports.lost() && !reports.result()) << cut;
    EXPECT_EQ(reports.silent_hosts(), std::set<std::string>{"node2"}) << cut;
    EXPECT_EQ(reports.ended().rank, -1);
  }
  RankReports reports;
  reports.take("\x1eretrace result\n");
  EXPECT_TRUE(reports.result());
  EXPECT_FALSE(reports.any_here());
}

TEST(RankReports, KnowTheRankThatASignalEndedFirst) {
  const std::string whole =
      "mpirun noticed that process rank 2 with PID 4711 on node node3 exited on signal 9 (Killed).\n"
      "mpirun noticed that process rank 0 with PID 4712 on node node1 exited on signal 15 (Terminated).\n";
  for (size_t cut = 0; cut <= whole.size(); ++cut) {
    RankReports reports;
    std::string text = reports.take(whole.substr(0, cut));
    text += reports.take(whole.substr(cut));
    EXPECT_EQ(text, whole);
    EXPECT_EQ(reports.ended().rank, 2) << cut;
    EXPECT_EQ(reports.ended().host, "node3") << cut;
  }
  RankReports slurm;
  slurm.take("srun: error: node2: task 0: Exited with exit code 2\nsrun: error: node3: task 2: Killed\n");
  EXPECT_EQ(slurm.ended().rank, 2);
  EXPECT_EQ(slurm.ended().host, "node3");
  RankReports reports;
  reports.take(
      "srun: error: Unable to allocate resources\nnoticed that process rank many exited on signal 9\nnoticed that "
      "process rank 1 ended\n");
  EXPECT_EQ(reports.ended().rank, -1);
}

}  // namespace
}  // namespace retrace::cli
