#include "retrace/distributed/launcher.h"

#include <fmt/format.h>
#include <sched.h>
#include <unistd.h>

#include <charconv>

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
