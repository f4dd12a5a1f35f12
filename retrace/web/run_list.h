#pragma once
// The runs that a page shows.

#include <cstdint>
#include <filesystem>
#include <string>
#include <unordered_map>
#include <vector>

#include "retrace/report/run_standing.h"

namespace retrace {

enum class RunState {
  running,  // a process of this machine has it, or it was written within the last minute
  quiet,    // it has not ended, and nothing was written for longer: it was broken off, or its steps are long
  stopped,  // by its user
  finished,
  events,  // event files of TensorBoard, which do not say
};

struct ListedRun {
  int number = 0;  // from 1, in the order in which runs were found
  std::filesystem::path folder;
  std::string name;  // its folder, with those above it as far as they are needed
  RunState state = RunState::quiet;
  RunStanding standing;
  int64_t iteration = 0;  // of the last step
  double step_loss = 0;   // of the last step; NaN: not known
  double learn_rate = 0;  // the same
  double written = 0;     // seconds since anything was written
  int same_as = 0;        // the number of the first finished run with the same fingerprint; 0: none is older
  bool stop_asked = false;
  std::string note;
};

// Folders of runs, and folders that hold them, three levels deep; at most 10,000 runs. One thread at a time.
class RunList {
 public:
  // Errors: missing, for a folder that does not exist.
  explicit RunList(std::vector<std::filesystem::path> roots);

  // Reads anew what was written since the last call, and at every second call, or while there are none, looks for new
  // runs.
  void refresh();
  const std::vector<ListedRun>& runs() const { return runs_; }
  // Folders of studies (docs/experiments.md), in the order in which they were found.
  const std::vector<std::filesystem::path>& studies() const { return studies_; }
  // Null for a number that no run has.
  const ListedRun* find(int64_t number) const;
  // A note of the user on a run, RUN/note.txt: at most 4 KiB. "" removes it. Errors: output; usage for a longer one.
  void set_note(int64_t number, const std::string& note);

 private:
  // Of the files that say how a run stands.
  struct Stamp {
    int64_t events = 0, events_size = 0, steps = 0, steps_size = 0;
    bool operator==(const Stamp&) const = default;
  };
  // A folder without a run, by the time of its last change.
  struct Plain {
    int64_t changed = 0;
    std::vector<std::filesystem::path> folders;  // in it
  };
  void discover();
  const std::vector<std::filesystem::path>& folders_in(const std::filesystem::path& folder);
  void look_into(const std::filesystem::path& folder, int depth);
  void add(const std::filesystem::path& folder, bool events);
  void refresh(ListedRun& run, Stamp& stamp);
  void find_equal_runs();

  std::vector<std::filesystem::path> roots_;
  std::vector<ListedRun> runs_;
  std::vector<Stamp> stamps_;
  std::vector<std::filesystem::path> studies_;
  std::unordered_map<std::string, size_t> places_;
  std::unordered_map<std::string, Plain> plain_;
  int refreshes_ = 0;
};

}  // namespace retrace
