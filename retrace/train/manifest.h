#pragma once
// The manifest of a run, manifest.json: what its files were when it ended, and what its result followed from.

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "retrace/base/sha256.h"
#include "retrace/distributed/worker.h"

namespace retrace {

struct Manifest {
  struct File {
    std::string name;  // within the run: "checkpoints/step-20.safetensors"
    FileHash hash;
  };
  std::vector<File> files;
  NamedValues identity;  // checkpoint_owner(): every key that decides bits, and the data
};

// RUN/manifest.json
std::filesystem::path manifest_path(const std::filesystem::path& run);
// Of the files that are there now, whole or not at all, with a hash of its own text. Errors: output; of reading.
void write_manifest(const std::filesystem::path& run, const NamedValues& identity);
// Nothing where a run has none: it goes on, was broken off, or is of an earlier version. Error(bad_data) where it is
// not what was written.
std::optional<Manifest> read_manifest(const std::filesystem::path& run);

// Problems of files in one line: the first five, and how many more there are.
std::string problems_text(const std::vector<std::string>& problems);

// Compares the files of a run with its manifest, if it has one: all, or the one of that name. Error(bad_data) names
// each file that changed, is missing, or was not there.
void check_files(const std::filesystem::path& run);
void check_file(const std::filesystem::path& run, const std::string& name);

}  // namespace retrace
