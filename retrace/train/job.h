#pragma once
// A job: what to train, on what data, how. Job files are TOML; their keys are the field names below
// ("training.max_epochs"). Each field is listed once, in job_fields.cpp, and reading, checking, printing and
// overrides follow from that list; the options of networks, solvers and schedules stand where those are described.

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "retrace/nn/networks.h"
#include "retrace/train/training_options.h"

namespace retrace {

struct DataOptions {
  std::optional<std::string> source = {};  // of retrace/data/sources; default: the network's own
  std::string path;                        // folder of the files, if it reads some; relative to the current folder
  // The first so many; 0: all that the source has. Of peaks a square number at most 200 x 200: a grid over the whole
  // surface with so many points (peaks_points() in data/datasets.h).
  int64_t train_samples = 0;
  int64_t test_samples = 0;
  // Where there is no test set: the share of the training set's samples that is put aside as one, rounded, at least one
  // sample. Which they are depends on their number alone, not on the seed. 0: the source has a test set.
  double test_share = 0;
  std::vector<std::string> transforms = {};  // of retrace/data/transforms, in this order, of the training set
  OptionValues options = {};                 // of the source and the transforms; their keys stand beside the others
};

struct Job {
  std::string name = "job";  // of the run folder; the default is the file's name without .toml
  uint64_t seed = 0;
  std::string device = "auto";  // cpu, cuda, cuda:N, cuda:N,M, auto: see find_device
  // Of this process, at most training.shards; 0: see automatic_workers(). Under mpirun the ranks are the workers.
  int workers = 1;
  int threads = 0;  // of each worker; 0: all cores that the process may use, or RETRACE_THREADS
  nn::NetworkOptions network;
  // What it begins with: a run, or a file of weights, of which every tensor is taken that fits by name and shape;
  // empty: starting values of its own.
  std::string initial_weights = {};
  DataOptions data;
  TrainingOptions training;
  std::string validation_data = "test";  // none, test: what the network is measured on while it is trained
  ValidationOptions validation;
};

// The job with the defaults of its network, its solver and its schedule where it says nothing: what every function here
// that takes a job does first. A job made in code and one read from a file have the same defaults.
Job resolved(Job job);

// One value that replaces the file's; `place` is where it comes from, for messages ("--threads").
struct JobOverride {
  std::string key, value, place;
};

// "key=value" of --set. Throws Error(usage) if there is no '='.
JobOverride parse_override(std::string_view text);

// Reads a job file of at most 1 MB. Later overrides win. An override of a choice (training.solver, data.source, ...)
// also takes away the file's options that belong to the old choice and not to the new one. All mistakes come in one
// Error(usage): unknown keys with the nearest valid one, wrong types, values out of range, options that do not belong
// to the chosen solver, schedule, network or data, each with file:line:column. A missing file is Error(missing).
// `network.file = "net.toml"` reads the keys of [network] from a file beside the job's.
Job read_job(const std::filesystem::path& file, const std::vector<JobOverride>& overrides = {});
// The same from memory, without network.file; `file` is the name in messages.
Job parse_job(std::string_view text, std::string_view file, const std::vector<JobOverride>& overrides = {});
// Throws Error(usage) unless the values of a job made in code are in range and belong together.
void check_job(const Job& job);

// The job as TOML, with all defaults written out; parse_job reads it back to an equal job.
std::string job_text(const Job& job);
// Keys and values as text, in the order of the file; keys without a meaning for this job are left out.
std::vector<std::pair<std::string, std::string>> job_values(const Job& job);
// What decides the bits of a result, as text: every key but those that change none (name, device, threads, data.path,
// training.acceleration, training.timeout, training.checkpoint...).
std::vector<std::pair<std::string, std::string>> job_identity(const Job& job);
// All keys that a job file may have.
std::vector<std::string> job_keys();

}  // namespace retrace
