#include "retrace/distributed/launcher.h"

#include <gtest/gtest.h>

#include <cstdlib>

#include "retrace/base/error.h"
#include "retrace/distributed/mpi_group.h"

namespace retrace {
namespace {

// No launcher's variables but those given, for one test.
class LauncherTest : public testing::Test {
 protected:
  void SetUp() override { clear(); }
  void TearDown() override { clear(); }
  static void set(const char* name, const char* value) { setenv(name, value, 1); }
  static void clear() {
    for (const char* name :
         {"OMPI_COMM_WORLD_SIZE", "OMPI_COMM_WORLD_RANK", "OMPI_COMM_WORLD_LOCAL_RANK", "OMPI_COMM_WORLD_LOCAL_SIZE",
          "PMIX_RANK", "SLURM_NTASKS", "SLURM_PROCID", "SLURM_LOCALID", "SLURM_NTASKS_PER_NODE", "RETRACE_MPI_MODULE"})
      unsetenv(name);
  }
};

TEST_F(LauncherTest, NoneInAPlainShell) {
  const auto found = detect_launcher();
  EXPECT_FALSE(found.present);
  EXPECT_EQ(found.size, 1);
  EXPECT_EQ(found.rank, 0);
  EXPECT_EQ(launcher_hint(), "");
}

TEST_F(LauncherTest, RanksOfMpirun) {
  set("OMPI_COMM_WORLD_SIZE", "4");
  set("OMPI_COMM_WORLD_RANK", "3");
  set("OMPI_COMM_WORLD_LOCAL_RANK", "1");
  set("OMPI_COMM_WORLD_LOCAL_SIZE", "2");
  const auto found = detect_launcher();
  EXPECT_TRUE(found.present);
  EXPECT_EQ(found.size, 4);
  EXPECT_EQ(found.rank, 3);
  EXPECT_EQ(found.local_rank, 1);
  EXPECT_EQ(found.local_size, 2);
  EXPECT_EQ(found.name, "mpirun");
}

TEST_F(LauncherTest, RanksOfSrun) {
  set("PMIX_RANK", "2");
  set("SLURM_NTASKS", "3");
  set("SLURM_PROCID", "2");
  set("SLURM_LOCALID", "1");
  const auto found = detect_launcher();
  EXPECT_TRUE(found.present);
  EXPECT_EQ(found.size, 3);
  EXPECT_EQ(found.rank, 2);
  EXPECT_EQ(found.local_rank, 1);
  EXPECT_EQ(found.local_size, 0);
  EXPECT_EQ(found.name, "srun");
  EXPECT_EQ(launcher_hint(), "");
}

TEST_F(LauncherTest, ABatchScriptIsNoRank) {
  set("SLURM_NTASKS", "8");
  set("SLURM_PROCID", "0");
  set("SLURM_LOCALID", "0");
  EXPECT_FALSE(detect_launcher().present);
}

TEST_F(LauncherTest, MpirunWithinABatchScriptCounts) {
  set("SLURM_NTASKS", "8");
  set("SLURM_PROCID", "0");
  set("PMIX_RANK", "1");
  set("OMPI_COMM_WORLD_SIZE", "2");
  set("OMPI_COMM_WORLD_RANK", "1");
  EXPECT_EQ(detect_launcher().name, "mpirun");
  EXPECT_EQ(detect_launcher().size, 2);
}

TEST_F(LauncherTest, NothingWithoutSizeOrRank) {
  set("PMIX_RANK", "0");
  EXPECT_FALSE(detect_launcher().present);
  set("OMPI_COMM_WORLD_SIZE", "2");
  EXPECT_FALSE(detect_launcher().present);
  for (const char* rank : {"2", "-1", "", "one", "1 "}) {
    set("OMPI_COMM_WORLD_RANK", rank);
    EXPECT_FALSE(detect_launcher().present) << rank;
  }
  set("OMPI_COMM_WORLD_RANK", "1");
  EXPECT_TRUE(detect_launcher().present);
}

TEST_F(LauncherTest, TheHintIsForRanksThatCouldHaveMore) {
  EXPECT_EQ(binding_hint(1, 8, 2), "each rank is bound to 1 of 8 cores: mpirun --bind-to none lets it use more");
  EXPECT_NE(binding_hint(1, 2, 1), "");
  EXPECT_EQ(binding_hint(8, 8, 2), "");  // not bound
  EXPECT_EQ(binding_hint(1, 2, 2), "");  // a core each
  EXPECT_EQ(binding_hint(1, 2, 4), "");  // more ranks than cores
  EXPECT_EQ(binding_hint(1, 8, 0), "");  // unknown
}

TEST_F(LauncherTest, AnAbsentModuleIsNamedWithItsRemedy) {
  set("RETRACE_MPI_MODULE", "/nowhere/libretrace_mpi.so");
  try {
    mpi_group(1);
    FAIL();
  } catch (const Error& error) {
    EXPECT_EQ(error.kind(), ErrorKind::unavailable);
    EXPECT_EQ(error.code(), 613);
    EXPECT_NE(std::string(error.what()).find("/nowhere/libretrace_mpi.so"), std::string::npos);
    EXPECT_NE(std::string(error.what()).find("libopenmpi-dev"), std::string::npos);
  }
}

}  // namespace
}  // namespace retrace
