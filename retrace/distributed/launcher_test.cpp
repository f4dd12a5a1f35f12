#include "retrace/distributed/launcher.h"

#include <gtest/gtest.h>

#include <cstdlib>
#include <sstream>
#include <vector>

#include "retrace/base/error.h"
#include "retrace/distributed/mpi_group.h"
#include "retrace/distributed/pool.h"

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
          "PMIX_RANK", "SLURM_NTASKS", "SLURM_PROCID", "SLURM_LOCALID", "SLURM_NTASKS_PER_NODE", "SLURM_STEP_ID",
          "SLURM_STEP_NUM_TASKS", "PMI_RANK", "PMI_SIZE", "MPI_LOCALNRANKS", "MPI_LOCALRANKID", "MV2_COMM_WORLD_RANK",
          "MV2_COMM_WORLD_SIZE", "MV2_COMM_WORLD_LOCAL_SIZE", "RETRACE_MPI_MODULE"})
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

// The text of what a pool of the ranks says; "" if it is made.
std::string refusal() {
  try {
    Pool::from_environment();
    return "";
  } catch (const Error& error) {
    EXPECT_EQ(error.kind(), ErrorKind::unavailable);
    EXPECT_EQ(error.code(), 606);
    return error.what();
  }
}

TEST_F(LauncherTest, RanksOfAnotherMpiAreNoLonelyCopies) {
  using Variables = std::vector<std::pair<const char*, const char*>>;
  const std::vector<std::pair<const char*, Variables>> cases{
      {"MPICH's or Intel MPI's mpiexec", {{"PMI_RANK", "2"}, {"PMI_SIZE", "4"}}},
      {"MPICH's or Intel MPI's mpiexec",
       {{"PMI_RANK", "0"}, {"PMI_SIZE", "2"}, {"MPI_LOCALNRANKS", "2"}, {"MPI_LOCALRANKID", "0"}}},
      {"Intel MPI's or MPICH's mpiexec", {{"MPI_LOCALNRANKS", "2"}, {"MPI_LOCALRANKID", "1"}}},
      {"MVAPICH's mpirun_rsh", {{"MV2_COMM_WORLD_RANK", "1"}, {"MV2_COMM_WORLD_SIZE", "3"}}},
      {"srun without PMIx", {{"SLURM_STEP_ID", "0"}, {"SLURM_PROCID", "1"}, {"SLURM_NTASKS", "3"}}},
      {"srun without PMIx",
       {{"SLURM_STEP_ID", "0"}, {"PMI_RANK", "1"}, {"PMI_SIZE", "3"}, {"SLURM_STEP_NUM_TASKS", "3"}}}};
  for (const auto& [name, variables] : cases) {
    clear();
    for (const auto& [variable, value] : variables) set(variable, value);
    const std::string text = refusal();
    EXPECT_NE(text.find(name), std::string::npos) << name << ": " << text;
    // The remedy works: without what it names the program is alone.
    const size_t at = text.find("unset ");
    ASSERT_NE(at, std::string::npos);
    std::istringstream names(text.substr(at + 6));
    for (std::string variable; names >> variable;) unsetenv(variable.c_str());
    EXPECT_EQ(refusal(), "");
  }
}

TEST_F(LauncherTest, OneProcessOfAnotherLauncherIsAlone) {
  set("PMI_RANK", "0"), set("PMI_SIZE", "1");
  EXPECT_EQ(refusal(), "");
  clear();
  set("SLURM_NTASKS", "8"), set("SLURM_PROCID", "0");  // a batch script
  EXPECT_EQ(refusal(), "");
  set("SLURM_STEP_ID", "4294967290"), set("SLURM_STEP_NUM_TASKS", "1");  // an interactive step
  EXPECT_EQ(refusal(), "");
  set("SLURM_STEP_ID", "0");
  EXPECT_EQ(refusal(), "");
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
