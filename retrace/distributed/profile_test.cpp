#include "retrace/distributed/profile.h"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <gtest/gtest.h>

#include "retrace/base/file.h"
#include "retrace/device/cpu/threads.h"
#include "retrace/distributed/launcher.h"
#include "retrace/distributed/pool.h"
#include "tests/environment.h"
#include "tests/error_testing.h"
#include "tests/temporary_folder.h"

namespace retrace {
namespace {

class ProfileTest : public testing::Test {
 protected:
  ProfileTest() {
    environment_.set("RETRACE_PROFILES", "");
    for (const char* name : {"RETRACE_LAUNCHED", "RETRACE_WITHOUT_HOSTS", "RETRACE_SUPERVISED"})
      environment_.set(name, "");
    environment_.set("XDG_CONFIG_HOME", (folder_ / "config").string());
  }
  void write(const std::string& text) {
    write_file_whole(folder_ / "profiles.toml", text);
    environment_.set("RETRACE_PROFILES", (folder_ / "profiles.toml").string());
  }
  std::string refusal(const std::string& text, const std::string& name = "lab") {
    write(text);
    return error_of([&] { cluster_profile(name); });
  }
  static std::string command(const ClusterProfile& profile, int n) {
    const std::vector<std::string> program{"/bin/program", "--flag", "a b"};
    return fmt::format("{}", fmt::join(launch_command(profile, n, program), "|"));
  }

  TemporaryFolder folder_;
  Environment environment_;
};

TEST_F(ProfileTest, SayHowWorkersAreStarted) {
  write(R"(default = "lab"
[lab]
engine = "mpi"
workers = 8
hosts = ["node1:4", "node2:4"]
options = ["--bind-to", "none"]
[queue]
engine = "slurm"
workers = 16
options = ["--partition=long"]
[own]
engine = "mpi"
workers = 2
launcher = "/opt/mpi/bin/mpirun"
[desk]
workers = 3
)");
  EXPECT_EQ(cluster_profile("").name, "lab");
  EXPECT_EQ(command(cluster_profile("lab"), 6),
            "mpirun|-n|6|--host|node1:4,node2:4|--bind-to|none|/bin/program|--flag|a b");
  EXPECT_EQ(command(cluster_profile("queue"), 16), "srun|--mpi=pmix|-n|16|--partition=long|/bin/program|--flag|a b");
  EXPECT_EQ(command(cluster_profile("own"), 1), "/opt/mpi/bin/mpirun|-n|1|/bin/program|--flag|a b");
  EXPECT_EQ(cluster_profile("desk").engine, "local");
  if (detect_launcher().present) return;
  EXPECT_EQ(Pool::from_profile("desk").size(), 3);
  EXPECT_EQ(Pool::from_profile("desk", 2).size(), 2);
  EXPECT_TRUE(says(error_of([] { Pool::from_profile("desk", 4); }), "no pool of 4 workers"));
}

TEST_F(ProfileTest, WithoutAFileThereIsThisMachine) {
  EXPECT_EQ(profiles_file(), (folder_ / "config/retrace/profiles.toml").string());
  EXPECT_EQ(cluster_profile("").engine, "local");
  EXPECT_EQ(cluster_profile("local").workers, thread_count());
  EXPECT_TRUE(says(error_of([] { cluster_profile("lab"); }), "RT0501"));
}

TEST_F(ProfileTest, MistakesAreNamedWithTheirLines) {
  const std::string file = (folder_ / "profiles.toml").string();
  EXPECT_EQ(refusal("[lap]\nworkers = 2\n[desk]\n"),
            "error[RT0662]: there is no cluster profile \"lab\"\n  where:    " + file +
                "\n  expected: one of desk, lap\n  help:     did you mean \"lap\"?");
  EXPECT_TRUE(says(refusal("[a]\n[b]\n", ""), "no cluster profile is the default one"));
  EXPECT_TRUE(says(refusal("[lab]\nworker = 2\n"),
                   "a cluster profile has no \"worker\" of this kind\n  where:    " + file + ":2"));
  EXPECT_TRUE(says(refusal("[lab]\nworkers = \"2\"\n"), "has no \"workers\" of this kind"));
  EXPECT_TRUE(says(refusal("[lab]\nworkers = 0\n"), "a cluster with 0 workers"));
  EXPECT_TRUE(says(refusal("[lab]\nengine = \"pbs\"\n"), "one of local, mpi, slurm"));
  EXPECT_TRUE(says(refusal("[lab]\nengine = \"slurm\"\nhosts = [\"a\"]\n"), "hosts are for the engine \"mpi\""));
  EXPECT_TRUE(says(refusal("[lab]\noptions = [1]\n"), "options is no list of texts"));
  EXPECT_TRUE(says(refusal("[lab\n"), "no valid TOML"));
  EXPECT_EQ(refusal("[lab]\nengine = \"mpi\"\n"), "no error");
}

TEST_F(ProfileTest, LaunchersThatDoNotStartAreSaid) {
  if (detect_launcher().present) GTEST_SKIP() << "under a launcher";
  write("[lab]\nengine = \"mpi\"\nlauncher = \"/none/mpirun\"\n");
  EXPECT_EQ(error_of([] { launch_again(cluster_profile("lab"), 1); }),
            "error[RT0663]: the workers of cluster profile \"lab\" cannot be started\n"
            "  got:      /none/mpirun: No such file or directory\n"
            "  help:     it comes with Open MPI (Debian: openmpi-bin)");
  environment_.set("RETRACE_LAUNCHED", "lab");
  EXPECT_TRUE(says(error_of([] { launch_again(cluster_profile("lab"), 1); }), "no rank of Open MPI"));
}

TEST_F(ProfileTest, GoOnWithoutHosts) {
  const ClusterProfile lab{
      .name = "lab", .engine = "mpi", .workers = 8, .hosts = {"node1:4", "node2.lab:2", "node3:2"}};
  const auto left = [&](const std::vector<std::string>& lost, int workers = 8) {
    ClusterProfile profile = lab;
    profile.workers = workers;
    profile = without_hosts(profile, lost);
    return fmt::format("{} {}", profile.workers, fmt::join(profile.hosts, ","));
  };
  EXPECT_EQ(left({}), "8 node1:4,node2.lab:2,node3:2");
  EXPECT_EQ(left({"node3", "node4"}), "6 node1:4,node2.lab:2");
  EXPECT_EQ(left({"node2"}), "6 node1:4,node3:2");
  EXPECT_EQ(left({"node1.lab", "node2.lab"}), "2 node3:2");
  EXPECT_EQ(left({"node"}), "8 node1:4,node2.lab:2,node3:2");
  EXPECT_EQ(left({"node3"}, 5), "5 node1:4,node2.lab:2");
  EXPECT_EQ(left({"node1"}, 16), "8 node2.lab:2,node3:2") << "workers were more than slots";
  const std::string error = error_of([&] { left({"node1", "node2", "node3"}); });
  EXPECT_NE(error.find("RT0716"), std::string::npos) << error;
  EXPECT_NE(error.find("no host of cluster profile \"lab\" is left"), std::string::npos) << error;

  write("[lab]\nengine = \"mpi\"\nworkers = 3\nhosts = [\"a\", \"b\", \"c\"]\n");
  environment_.set("RETRACE_WITHOUT_HOSTS", "b");
  EXPECT_EQ(command(cluster_profile("lab"), 2),
            "mpirun|-n|2|-x|RETRACE_WITHOUT_HOSTS|--host|a,c|/bin/program|--flag|a b");
}

}  // namespace
}  // namespace retrace
