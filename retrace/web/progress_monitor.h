#pragma once
// Progress of a custom loop, to look at while it goes on: curves, fields, and a button that stops it.

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "retrace/base/owned.h"
#include "retrace/base/place.h"
#include "retrace/monitor/monitor.h"

namespace retrace {

// Options of TrainingProgressMonitor.
struct ProgressMonitorOptions {
  std::string name = "training";          // on the page, and of the folder
  std::vector<std::string> metrics = {};  // letters, digits, _ and /; record_metrics() may bring more
  std::vector<std::string> info = {};     // fields beside the curves; update_info() may bring more
  std::string x_label = "iteration";
  // The folder that keeps what is recorded; it may exist if it is empty. Empty: runs/NAME-N with the next free N.
  std::string out = {};
  bool page = true;  // serves the live page (docs/monitor.md); its address is url()
  int port = 0;      // of the page; 0: any that is free
};

// Keeps what a loop tells of itself, in memory and in a folder that `retrace monitor` shows, also after a crash. The
// clock starts when it is made. Any thread may use it, but for its making and its end; a call takes a microsecond or
// so, and waits for no disk and for no page: a thread of its own writes. Ranks send what they have to one of them, by a
// DataQueue. It changes no bit of what the loop computes.
class TrainingProgressMonitor {
 public:
  // Errors: usage for names that are none, two of one name, a folder that is in use or not empty, a port that is taken;
  // output; unavailable, where retrace was built without its page.
  explicit TrainingProgressMonitor(const ProgressMonitorOptions& options = {}, Place place = Place::here());
  // Writes what is left, and closes the page.
  ~TrainingProgressMonitor();
  TrainingProgressMonitor(const TrainingProgressMonitor&) = delete;
  TrainingProgressMonitor& operator=(const TrainingProgressMonitor&) = delete;

  // Adds a point to curves: record_metrics(step, {{"loss", loss}, {"accuracy", accuracy}}). Steps may come in any
  // order. Errors: usage for a name as above, and for a step that is not finite.
  void record_metrics(double step, const MetricValues& values, Place place = Place::here());
  // Replaces fields: update_info({{"epoch", "3 of 20"}}). Errors as above.
  void update_info(const std::vector<std::pair<std::string, std::string>>& fields, Place place = Place::here());
  // Draws these metrics in one chart, under this title.
  void group(const std::string& title, const std::vector<std::string>& metrics);
  // Of the chart of this metric or title.
  void set_log_scale(const std::string& chart, bool on = true);
  // In per cent, 0 to 100. Error(usage) for others.
  void set_progress(double percent, Place place = Place::here());
  void set_status(const std::string& status);

  // Whether a user asked the loop to end: by the page's button, or by a file `stop` in the folder. It stays true. The
  // loop looks, and ends; workers agree by worker.any(monitor.stop()).
  bool stop() const;
  // "http://127.0.0.1:PORT/?token=...": for whoever may see it; "" without a page.
  std::string url() const;
  std::string folder() const;
  double seconds() const;  // since it was made
  // What was recorded of a metric: step and value, in the order of recording. Empty for a name that is not there.
  std::vector<std::pair<double, double>> data(const std::string& metric) const;
  // The first error of writing; "" if there was none. It ends no loop.
  std::string trouble() const;

 private:
  struct State;
  Owned<State> state_;
};

}  // namespace retrace
