#pragma once
// A run is a folder:
//   job.toml             the job as run, all defaults written out; of a training that a program started, with
//                        train_network(), training.toml: the options that changed bits; and
//   network.toml         its network, as a job file would say it (retrace/train/run_network.h)
//   versions.json        what it ran on
//   classes.json         the names of the classes, where they have others than their numbers
//   table.json           of data in a table: the names of columns and classes (retrace/train/run_table.h)
//   metrics.jsonl        one event a line
//   steps.jsonl          one line a step: samples, loss, rate, and now and then fingerprints (retrace/train/step_log.h)
//   fingerprints.txt     per epoch one line a tensor, "EPOCH HEX NAME", then "EPOCH HEX all", or, where the run was
//                        stopped within the epoch, "EPOCH HEX stopped after iteration N"; such a line of a run of the
//                        mode fast ends with ", mode fast"
//   weights.safetensors  parameters/... and state/... after the last epoch that is there, with the fingerprint of each
//   checkpoints          step-N.safetensors: the state after iteration N, to go on from (retrace/train/checkpoint.h)
//   manifest.json        at the end: size and hash of each of these files (retrace/train/manifest.h)
//   report.html          a page for people, which is in no manifest (retrace/report/report.h)
//   note.txt, stop       a note of the user, and a request to end (retrace/web/run_list.h, stop_request.h): in no
//   manifest .lock                who writes, or wrote, the folder: host, process, start

#include <cstdint>
#include <filesystem>
#include <map>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "retrace/base/file.h"
#include "retrace/data/source_kind.h"
#include "retrace/distributed/worker.h"
#include "retrace/train/class_names.h"
#include "retrace/train/job.h"
#include "retrace/train/metrics_log.h"
#include "retrace/train/safetensors.h"
#include "retrace/train/versions.h"

namespace retrace {

struct EpochFingerprints {
  int epoch = 0;
  uint64_t all = 0;                         // of the set
  std::map<std::string, uint64_t> tensors;  // by name
  int64_t stopped_after = 0;                // the iteration within the epoch that was the last one; 0: it is whole
  std::string mode = "reproducible";        // training.mode
  bool operator==(const EpochFingerprints&) const = default;
};

// 16 hex digits.
std::string fingerprint_text(uint64_t fingerprint);

// A run folder that this process writes; locked until it is destroyed.
class RunFolder {
 public:
  // Makes runs/NAME-N with the next free N, or `out` (which may exist if it is empty), and writes the file that says
  // what is trained, versions.json and, where classes and columns have names, classes.json and table.json. Where the
  // file system has no locks, warns and goes on. Errors: as check_new_run(); output.
  struct Description {
    std::string name, file, text;
    ClassNames classes = {};
    TrainingFacts facts = {};  // of the data
    std::string network = {};  // the text of network.toml; empty: there is none
  };
  static RunFolder create(const Description& what, const Versions& versions, const std::filesystem::path& out = {},
                          const std::filesystem::path& runs = "runs");
  // The same of a job, in job.toml. Errors: also as check_job().
  static RunFolder create(const Job& job, const Versions& versions, const std::filesystem::path& out = {},
                          const std::filesystem::path& runs = "runs");

  // Takes over the folder of a run that goes on after so many complete epochs and iterations: what was written of later
  // ones (metrics, steps, fingerprints, checkpoints, the end of the run) is removed. The weights stay until newer ones
  // are written. Errors: as create(); missing; bad_data where lines of earlier epochs are absent.
  static RunFolder resume(const std::filesystem::path& path, int64_t epochs, int64_t iterations);

  const std::filesystem::path& path() const { return path_; }
  // The file of events; give its append() the lines of event_json().
  MetricsLog& metrics() { return metrics_; }
  // Appends epochs to fingerprints.txt, and syncs it and the metrics. Errors: output.
  void record(std::span<const EpochFingerprints> epochs);
  void record(const EpochFingerprints& epoch) { record(std::span(&epoch, 1)); }
  // Appends lines of the step log, without the last '\n'. Errors: output.
  void log_steps(std::string_view lines) { steps_.append(lines); }
  // Returns when all logs are on the disk. Errors: output.
  void sync();
  // Writes weights.safetensors whole or not at all. Errors: output.
  void write_weights(const SafeTensors& weights);
  // Writes the checkpoint of an iteration whole or not at all, after all metrics and fingerprints so far have reached
  // the disk, and removes all but the newest `kept`. Errors: output.
  void write_checkpoint(int64_t iterations, const SafeTensors& content, int64_t kept);
  // Writes the snapshot of an iteration, which replaces the one before; no log need have reached the disk. Errors:
  // output.
  void write_snapshot(int64_t iterations, const SafeTensors& content);
  // Writes the manifest, when all else is written. Errors: output; of reading.
  void seal(const NamedValues& identity);
  // Removes the files of the run, and the folder, too, if create() made it and nothing else is in it. What cannot be
  // removed stays.
  void discard();

 private:
  RunFolder(std::filesystem::path path, bool made, FileDescriptor lock);
  std::filesystem::path path_;
  bool made_;  // the folder, by create()
  FileDescriptor lock_;
  MetricsLog metrics_, steps_, fingerprints_;
};

// Throws what create() would throw for such an `out`, and leaves nothing behind: Error(usage) if it is no folder, holds
// something, or another process uses it (with its host, number and start). Nothing for an empty path.
void check_new_run(const std::filesystem::path& out);

// Removes the files of a run, so that a new one can be made in its folder. Errors: missing, for what is no run; usage,
// where another process uses it; output.
void clear_run(const std::filesystem::path& run);

// The files of a run that are there, without the manifest and the lock: "job.toml", "checkpoints/step-20.safetensors".
// In a fixed order.
std::vector<std::string> files_of_run(const std::filesystem::path& run);

// Reading a run that is finished, broken off or still going on. What is read is compared with the manifest, where there
// is one: Error(bad_data) names the file that is not what was written. The folder's epochs in order; lines that a crash
// left torn at the end are left out. Errors: missing, with the nearest path; bad_data with file and line.
std::vector<EpochFingerprints> read_fingerprints(const std::filesystem::path& run);
// Error(bad_data) for a job.toml that is no valid job.
Job read_run_job(const std::filesystem::path& run);
// Error(bad_data) names the tensors that are not what was written: by the fingerprints in the file, or, where an
// earlier version wrote none, by the last ones of fingerprints.txt.
SafeTensors read_run_weights(const std::filesystem::path& run);
// Throws Error(missing) unless `run` is a folder that holds a run.
void check_run_folder(const std::filesystem::path& run);
// Whether a folder is a run, of a job or of a program.
bool is_run(const std::filesystem::path& folder);
// Whether a program started the run, with train_network(), and no job.
bool is_run_of_program(const std::filesystem::path& run);
// check_output() for what is made from `input` with a run: files of run folders are refused, too.
void check_run_output(const std::filesystem::path& output, const std::filesystem::path& input);

}  // namespace retrace
