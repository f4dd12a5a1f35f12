#pragma once
// A training that is handed to the queue of Slurm.

#include <filesystem>
#include <string>
#include <vector>

#include "retrace/distributed/profile.h"

namespace retrace::cli {

struct BatchJob {
  std::string name;                   // of the job in the queue
  ClusterProfile profile;             // of the engine "slurm"
  int workers = 1;                    // ranks
  std::vector<std::string> program;   // what each rank runs; started again, it goes on
  std::filesystem::path script, log;  // files that are written: by us, and by Slurm
};

// The script for sbatch: the text of the profile's file with {name}, {workers}, {log}, {folder} (the current one) and
// {command} (the launcher with the program) replaced, or ours. Errors: of reading the file; usage if it has no
// {command}.
std::string batch_script(const BatchJob& job);

// Writes the script, and gives it to sbatch; returns the number of the job in the queue. Errors: output;
// unavailable without sbatch, or with its reason.
std::string submit(const BatchJob& job);
// Waits until the job has left the queue, however often it came back there; its exit code.
int wait_for_job(const std::string& number);
// The last lines of the job's output; "" if there is none.
std::string last_output(const BatchJob& job);

}  // namespace retrace::cli
