#include "retrace/distributed/launcher.h"

#include <fmt/format.h>
#include <sched.h>
#include <unistd.h>

#include <charconv>

#include "retrace/base/error.h"
#include "retrace/base/options.h"

namespace retrace {
namespace {

// A whole number that is not negative; -1 for anything else.
int number(const char* variable) {
  const std::string text = foreign_environment(variable);
  int value = -1;
  const auto [end, failure] = std::from_chars(text.data(), text.data() + text.size(), value);
  return failure == std::errc() && end == text.data() + text.size() ? value : -1;
}

Launcher launcher(const char* name, const char* size, const char* rank, const char* local_rank,
                  const char* local_size) {
  Launcher found;
  const int own = number(rank), all = number(size);
  if (own < 0 || own >= all) return found;
  found = {true, all, own, 0, 0, name};
  if (const int local = number(local_rank); local > 0) found.local_rank = local;
  if (const int local = number(local_size); local > 0) found.local_size = local;
  return found;
}

// Ranks of a launcher that this program cannot join.
struct Foreign {
  const char *name, *rank, *size, *size_too;  // the variables that say so
  const char* help;
};
constexpr const char* kWithMpirun = "start it with Open MPI's mpirun (Debian: openmpi-bin)";
constexpr Foreign kForeign[] = {
    {"srun without PMIx", "SLURM_STEP_ID", "SLURM_STEP_NUM_TASKS", "SLURM_NTASKS",
     "start it with srun --mpi=pmix, or with Open MPI's mpirun"},
    {"MPICH's or Intel MPI's mpiexec", "PMI_RANK", "PMI_SIZE", "MPI_LOCALNRANKS", kWithMpirun},
    {"Intel MPI's or MPICH's mpiexec", "MPI_LOCALRANKID", "MPI_LOCALNRANKS", "PMI_SIZE", kWithMpirun},
    {"MVAPICH's mpirun_rsh", "MV2_COMM_WORLD_RANK", "MV2_COMM_WORLD_SIZE", "MV2_COMM_WORLD_LOCAL_SIZE", kWithMpirun},
};

// Of a process; 0: this one.
int cores_of(pid_t process) {
  cpu_set_t set;
  CPU_ZERO(&set);
  return sched_getaffinity(process, sizeof set, &set) == 0 ? CPU_COUNT(&set) : 0;
}

}  // namespace

Launcher detect_launcher() {
  const auto mpirun = launcher("mpirun", "OMPI_COMM_WORLD_SIZE", "OMPI_COMM_WORLD_RANK", "OMPI_COMM_WORLD_LOCAL_RANK",
                               "OMPI_COMM_WORLD_LOCAL_SIZE");
  // Slurm's own variables are in the environment of a batch script as well.
  if (mpirun.present || number("PMIX_RANK") < 0) return mpirun;
  return launcher("srun", "SLURM_NTASKS", "SLURM_PROCID", "SLURM_LOCALID", "SLURM_NTASKS_PER_NODE");
}

void check_launcher() {
  if (detect_launcher().present) return;
  const Foreign* first = nullptr;
  int processes = 0;
  std::string found, names;
  for (const Foreign& foreign : kForeign) {
    const int size = number(foreign.size) >= 0 ? number(foreign.size) : number(foreign.size_too);
    if (number(foreign.rank) < 0 || size < 2) continue;
    if (!first) first = &foreign, processes = size;
    found += fmt::format("{}{}={}", found.empty() ? "" : ", ", foreign.rank, foreign_environment(foreign.rank));
    names += fmt::format(" {}", foreign.rank);
  }
  if (!first) return;
  throw Error(ErrorKind::unavailable, 606,
              fmt::format("this is one of {} processes of {}, which cannot work together", processes, first->name))
      .got(found)
      .help(fmt::format("{}. To let it run alone: unset{}", first->help, names));
}

std::string binding_hint(int bound, int cores, int local_size) {
  if (bound <= 0 || local_size <= 0 || bound * local_size >= cores) return "";
  return fmt::format("each rank is bound to {} of {} cores: mpirun --bind-to none lets it use more", bound, cores);
}

std::string launcher_hint() {
  const Launcher launcher = detect_launcher();
  if (launcher.name != "mpirun") return "";
  return binding_hint(cores_of(0), cores_of(getppid()), launcher.local_size);
}

}  // namespace retrace
