#pragma once
// What the page reads of studies, and does to their trials.

#include <filesystem>
#include <map>
#include <string>
#include <vector>

#include "retrace/web/http_message.h"

namespace retrace {

// Studies have numbers from 1, in their order. One thread at a time. Answers are errors (404) for what is not there.
class StudyAnswers {
 public:
  // {"studies":[{"id":1,"name":"...","folder":"..."},...]}
  WebResponse list(const std::vector<std::filesystem::path>& studies) const;
  // table_json() with "importance" and with "written", whether a sweep writes the study now.
  WebResponse table(const std::filesystem::path& study);
  // table_csv(), as a file.
  WebResponse csv(const std::filesystem::path& study) const;
  // The job file of the best trial.
  WebResponse best_job(const std::filesystem::path& study) const;
  // `what`: cancel, restart, note. A sweep that writes the study does it within a second.
  WebResponse change(const std::filesystem::path& study, int64_t trial, const std::string& what,
                     const std::string& text) const;

 private:
  std::map<std::string, std::pair<std::string, std::string>> importances_;  // by folder: of which values, and as JSON
};

}  // namespace retrace
