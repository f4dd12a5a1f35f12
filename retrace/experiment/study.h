#pragma once
// The file of a study: its trials, in SQLite. One process writes it, any number may read meanwhile.

#include <filesystem>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "retrace/base/file.h"
#include "retrace/experiment/search_space.h"

namespace retrace {

// FOLDER/study.sqlite
std::filesystem::path study_path(const std::filesystem::path& folder);
// FOLDER/trials/0001
std::filesystem::path trial_folder(const std::filesystem::path& folder, int64_t number);

class Study {
 public:
  enum class Use { read, write };
  // `write`: makes folder and file where there are none, and keeps other writers out as long as the object lives.
  // Errors: missing for a study to read that is not there; usage where another process writes it; bad_data for a file
  // that is no study; unavailable where retrace was built without SQLite; output.
  Study(const std::filesystem::path& folder, Use use);
  ~Study();
  Study(const Study&) = delete;
  Study& operator=(const Study&) = delete;

  const std::filesystem::path& folder() const { return folder_; }

  // What belongs to the whole study; "" where there is nothing of that name.
  std::string text(const std::string& name) const;
  void set_text(const std::string& name, const std::string& text);

  // All trials by their numbers, with their reports.
  std::vector<TrialRecord> trials() const;
  // Stores a trial and its reports in place of what is there. What is stored is on the disk when this returns, whole or
  // not at all. Errors: output.
  void store(const TrialRecord& trial);
  // Adds one report.
  void store(int64_t number, const TrialReport& report);

 private:
  struct Connection;
  std::filesystem::path folder_;
  FileDescriptor lock_;
  std::unique_ptr<Connection> connection_;
};

// Writes into a new study what it is of. Error(usage) for one of another experiment, with the first line that differs.
void check_same_experiment(Study& study, const std::string& identity);

// Whether another process writes the study.
bool is_written(const std::filesystem::path& folder);

// Values as JSON and back. Numbers keep their bits; one without a fraction comes back as a whole number.
std::string values_json(const OptionValues& values);
OptionValues values_from_json(const std::string& text);

}  // namespace retrace
