#pragma once
// The live page of runs.

#include <filesystem>
#include <memory>
#include <string>
#include <vector>

namespace retrace {

struct RunServerOptions {
  std::vector<std::filesystem::path> runs;  // folders of runs, or folders that hold them
  std::string address = "127.0.0.1";        // others are served to other machines, too: with the token alone between
  int port = 0;                             // 0: any that is free
  bool shows_end = false;                   // open pages are told how it ended, and may read the last curves
};

// Serves a page with the curves and the standing of runs, also while they go on, by one thread of its own that reads
// the folders: a run, or a page that nobody reads, never waits for it. Errors: missing, for folders; usage, for
// addresses and ports; unavailable, also where retrace was built without Boost or dygraphs.
class RunServer {
 public:
  explicit RunServer(const RunServerOptions& options);
  ~RunServer();
  RunServer(const RunServer&) = delete;
  RunServer& operator=(const RunServer&) = delete;

  // "http://127.0.0.1:6006/?token=...": for whoever may see the runs.
  std::string url() const;

 private:
  class Pages;
  std::unique_ptr<Pages> pages_;
};

}  // namespace retrace
