#pragma once
// Clusters as their user describes them, and the launchers that start a program there.

#include <span>
#include <string>
#include <vector>

#include "retrace/base/error.h"

namespace retrace {

// A table of profiles.toml (docs/workers.md).
struct ClusterProfile {
  std::string name;
  std::string engine;                     // "local": threads of this process; "mpi"; "slurm"
  int workers = 1;                        // as many as a pool may have, and has if nobody says a number
  std::vector<std::string> hosts = {};    // of mpi: "node1", or "node1:4" for four slots
  std::string launcher = {};              // the program; "": mpirun, srun
  std::vector<std::string> options = {};  // given to it
  std::string submit = {};                // of slurm: the file of a script for sbatch; "": ours
};

// The file of profiles: RETRACE_PROFILES, else retrace/profiles.toml in $XDG_CONFIG_HOME or ~/.config.
std::string profiles_file();
// The profile of that name, or for "" the one that the file names as its default, without the hosts of
// RETRACE_WITHOUT_HOSTS; without a file "local" is one, with
// a worker for each core that this process may use. Errors: usage for a name that is not there, and for what
// profiles.toml cannot say; missing for a file that is not there.
ClusterProfile cluster_profile(const std::string& name);

// n, or for 0 all workers of the profile. Error(usage) for more than it has.
int workers_of(const ClusterProfile& profile, int n);

// The profile without these hosts, with their names as the hosts themselves or the profile say them ("node2",
// "node2.lab"), and with as many workers as the others have slots for; where workers were more than slots before, in
// the same proportion. Throws Error(unavailable) if no host is left.
ClusterProfile without_hosts(ClusterProfile profile, std::span<const std::string> lost);

// The program of this process, and its arguments. Error(unavailable) where they cannot be known.
std::vector<std::string> own_command();
// How n workers of a profile are started: the launcher, its options, and then `program` with its arguments.
std::vector<std::string> launch_command(const ClusterProfile& profile, int n, std::span<const std::string> program);
// Gives this process to the launcher, which starts the program anew, with its arguments, as n ranks. Returns only by
// throwing: Error(unavailable) without the launcher, or if this process was started by it and is no rank of its.
[[noreturn]] void launch_again(const ClusterProfile& profile, int n);

}  // namespace retrace
