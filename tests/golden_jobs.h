#pragma once
// The golden jobs of contract 1 and what their runs are to give: tests/golden/1, read from the source tree, in which
// tests run.

#include <fstream>
#include <sstream>
#include <stdexcept>
#include <string>
#include <vector>

namespace retrace {

inline constexpr char kGoldenFolder[] = "tests/golden/1";

struct GoldenJob {
  std::string name;
  std::string fingerprint;  // with one shard
  std::string four_shards;
};

inline std::string golden_path(const std::string& job) { return kGoldenFolder + ("/" + job + ".toml"); }

// In the order of fingerprints.txt.
inline std::vector<GoldenJob> golden_jobs() {
  std::ifstream file(std::string(kGoldenFolder) + "/fingerprints.txt");
  std::vector<GoldenJob> jobs;
  for (std::string line; std::getline(file, line);) {
    GoldenJob job;
    if (line.starts_with('#')) continue;
    if (!(std::istringstream(line) >> job.name >> job.fingerprint >> job.four_shards))
      throw std::runtime_error("tests/golden/1/fingerprints.txt: " + line);
    jobs.push_back(job);
  }
  if (jobs.empty()) throw std::runtime_error("tests/golden/1/fingerprints.txt cannot be read from here");
  return jobs;
}

inline GoldenJob golden_job(const std::string& name) {
  for (const auto& job : golden_jobs())
    if (job.name == name) return job;
  throw std::runtime_error("there is no golden job " + name);
}

}  // namespace retrace
