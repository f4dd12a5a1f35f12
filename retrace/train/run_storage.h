#pragma once
// Runs in object storage: written in a folder on the disk, and copied.

#include <condition_variable>
#include <cstdint>
#include <filesystem>
#include <map>
#include <mutex>
#include <string>
#include <thread>

#include "retrace/cloud/s3_bucket.h"

namespace retrace {

// The folder for a new run at "s3://bucket/path", below retrace/runs in the user's cache folder; `first`: this process
// writes it, and removes what another run left there. Errors: usage if there is something at the location, or if
// another process writes there; those of S3Bucket.
std::filesystem::path folder_for_new_run(const std::string& location, bool first);

// `run`, or for one in object storage the folder with a copy of it. Where this machine wrote the run and has a later
// checkpoint than the storage, what is there stays. Errors: missing where there is no run; those of S3Bucket; output.
std::filesystem::path run_on_disk(const std::filesystem::path& run);

// Copies a run to object storage while it is written: its logs, and then the checkpoints that were there before them,
// so that the storage has at any time what a run goes on from. On a thread of its own, after every new checkpoint and
// at least once a minute; what fails is tried again with the next one, after a warning. One thread owns the object.
class RunUpload {
 public:
  RunUpload(std::filesystem::path run, const std::string& location);
  ~RunUpload();
  // Copies what is left. Errors: those of S3Bucket; the folder on the disk then has the whole run.
  void finish();

 private:
  struct Known {
    uint64_t bytes = 0;
    int64_t time = 0;
    bool operator==(const Known&) const = default;
  };
  void watch();
  void stop();
  void copy_all();
  void copy(const std::string& name);
  void remove_if_absent(const std::string& name);

  const std::filesystem::path run_;
  const std::string prefix_;  // of the keys, with '/' at its end
  const S3Bucket bucket_;
  std::map<std::string, Known> copied_;
  std::mutex mutex_;
  std::condition_variable changed_;
  bool stopped_ = false;
  std::thread thread_;
};

}  // namespace retrace
