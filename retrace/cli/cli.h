#pragma once
// The command. Each subcommand is one function in a file of its own: options in, exit code out; errors are thrown.

#include <filesystem>
#include <string>
#include <vector>

namespace retrace::cli {

constexpr int kDiverged = 3;    // exit code of a training that ended because the loss was not finite
constexpr int kDifferent = 76;  // exit code of a comparison that found a difference

// What replaces keys of a job: "key=value" of --set, and flags as (key, value, flag). Texts, so that the job's own
// rules judge them and all mistakes come at once.
struct JobSettings {
  std::vector<std::string> settings;
  std::string threads, device, devices, seed, timeout;  // empty: not given; devices: "0,2"
};

struct TrainOptions {
  std::filesystem::path job, out;
  JobSettings settings;
  std::string workers;  // empty: not given
  bool json = false;
};
int train(const TrainOptions& options);

struct PredictOptions {
  std::filesystem::path run, input, output = "out.csv";
};
int predict(const PredictOptions& options);

struct CompareOptions {
  std::filesystem::path a, b;
  bool json = false;
};
int compare(const CompareOptions& options);

struct PlanOptions {
  std::filesystem::path job;
  JobSettings settings;
  bool passes = false, why = false;
};
int plan(const PlanOptions& options);

struct InfoOptions {
  bool json = false;
};
int info(const InfoOptions& options);

struct DataOptions {
  std::filesystem::path out;
};
int data_digits(const DataOptions& options);

// Parses the arguments and runs; returns the exit code. Error texts go to standard error.
int run(int argc, const char* const* argv);

}  // namespace retrace::cli
