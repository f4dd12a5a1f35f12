#pragma once
// The ranks of mpirun or srun as a group. MPI is loaded when the first group is made, so that programs also run without
// it.

#include <memory>
#include <string>
#include <vector>

#include "retrace/distributed/group.h"

namespace retrace {

// All ranks of this job (one, for a program that nothing launched). The first call waits for the other ranks; later
// calls give views of the same group, whose collectives count on. Seconds: how long a member waits for one from which
// nothing comes (messages count in parts of 64 MiB) and that gives no sign of life; in the first call, for all ranks to
// begin, who have 10 at least. A rank gives one by computing, or by waiting itself. After an error the group cannot be
// used any more. At its end a process waits until all have come to theirs, as long as they answer, and MPI is
// finalised; a process that waits in a collective for one that is at its end gets Error(lost) at once. After an error a
// process ends without that, and mpirun ends the others.
//
// Throws Error(lost) if not all ranks begin, Error(unavailable) that says what to install or to set.
std::shared_ptr<Group> mpi_group(double seconds);

// The place of this rank on its machine. Loads MPI as mpi_group() does.
struct MpiPlace {
  int local_rank = 0, local_size = 1;  // among the ranks on this machine
  std::string host;
};
MpiPlace mpi_place();

// The ranks that this one has given up, since they gave no sign of life; none in a process that has no MPI group.
std::vector<int> silent_ranks();

// Waits until all ranks have come to the end of their work, however long that takes them, as long as they answer.
// Throws Error(lost) that names those that do not, for so many seconds as the first mpi_group() says. Returns at once
// in a process that has no MPI group.
void meet_at_end();

// Ends all ranks at once, with this exit code of mpirun: for a command whose group is lost. Returns, having done
// nothing, in a process that has no MPI group.
void abort_mpi(int code);

}  // namespace retrace
