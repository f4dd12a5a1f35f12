#pragma once
// The command. Each subcommand is one function in a file of its own: options in, exit code out; errors are thrown.

#include <filesystem>
#include <string>
#include <vector>

namespace retrace::cli {

struct TrainOptions {
  std::filesystem::path job, out;
  std::vector<std::string> settings;
  int threads = 0;
  std::string device, seed;
  bool json = false;
};
int train(const TrainOptions& options);

int predict(const std::filesystem::path& run, const std::filesystem::path& input, const std::filesystem::path& output);
int compare(const std::filesystem::path& a, const std::filesystem::path& b, bool json);
int plan(const std::filesystem::path& job, const std::vector<std::string>& settings);
int info(bool json);
int data_digits(const std::filesystem::path& out);

// Parses the arguments and runs; returns the exit code. Error texts go to standard error.
int run(int argc, const char* const* argv);

// Writes to standard output; throws Error(output) if it is closed or full.
void print(const std::string& text);

}  // namespace retrace::cli
