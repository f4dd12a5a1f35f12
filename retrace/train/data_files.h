#pragma once
// The files of a run's data, RUN/data.jsonl: what they were when its first checkpoint was written, or when it ended.

#include <filesystem>
#include <string>
#include <vector>

#include "retrace/train/training_task.h"

namespace retrace {

struct DataFile {
  std::string name;  // below the folder that all of them have in common
  SourceFile source;
};

// The files of the sets of a training in the order of their names, each once; none for data that are in no files.
std::vector<DataFile> data_files(const TrainingTask& task);

// The most bytes of all files together of which hashes are made; of more, which would take longer than
// 20 seconds, sizes and times are kept alone.
constexpr uint64_t kMostHashedBytes = uint64_t{4} << 30;

// RUN/data.jsonl
std::filesystem::path data_files_path(const std::filesystem::path& run);

// A line for each file: name, bytes, time of its last change, SHA-256; for an object of a bucket name, bytes, object
// and tag. Of no files, nothing. Written whole or not at all. Errors: output; of reading.
void write_data_files(const std::filesystem::path& run, const std::vector<DataFile>& files);

// Which files are read again: those of another time, or all.
enum class DataCheck { changed, all };

// Compares the files with those of the run, if it has data.jsonl: an object by its tag, or by its size alone with a
// file on the disk or an object elsewhere. Files none of which has the name of one of the run are another form of the
// data (an archive for a folder), of which digests tell. Error(bad_data) names those that have other content, are
// missing or were not there; another one says that data.jsonl is damaged.
void check_data_files(const std::filesystem::path& run, const std::vector<DataFile>& files, DataCheck which);

}  // namespace retrace
