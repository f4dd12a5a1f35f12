#pragma once
// The launcher that started this process as one of several: mpirun, or srun with PMIx.

#include <string>

namespace retrace {

struct Launcher {
  bool present = false;
  int size = 1;
  int rank = 0;
  int local_rank = 0;  // among the ranks on this machine
  int local_size = 0;  // how many those are; 0 if unknown
  std::string name;    // "mpirun" or "srun"
};

// Finds it from the environment alone; MPI is not loaded. A shell in an allocation of Slurm is no rank, and neither is
// a process whose number or whose group's size is unknown.
Launcher detect_launcher();

// Throws Error(unavailable) if this process is one of several that another MPI's launcher started (Hydra of MPICH and
// Intel MPI, MVAPICH, srun without PMIx): they cannot find each other, and each would be alone. Says what works
// instead.
void check_launcher();

// One line if mpirun bound its ranks to fewer cores than they could share: "each rank is bound to 1 of 8 cores:
// mpirun --bind-to none lets it use more". Else "".
std::string launcher_hint();
// The same for ranks with `bound` of the `cores` that their launcher has for `local_size` of them.
std::string binding_hint(int bound, int cores, int local_size);

// That all ranks have to begin, however short the time-out is: launchers start them one after another, on hosts that
// may be busy.
inline constexpr double kLeastSecondsToBegin = 10;

}  // namespace retrace
