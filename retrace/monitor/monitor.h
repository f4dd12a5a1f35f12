#pragma once
// What is going on: plain records of a training run, and who watches it. One stream of them feeds every view. A monitor
// receives them on the thread that trains and must be quick; it cannot change bits.

#include <cstdint>
#include <string>
#include <utility>
#include <variant>
#include <vector>

namespace retrace {

// Name and value, in the order in which they are shown ("accuracy", 0.98).
using MetricValues = std::vector<std::pair<std::string, double>>;
// Those that are tables, by rows ("confusion_matrix").
using MetricTable = std::vector<std::vector<double>>;
using MetricTables = std::vector<std::pair<std::string, MetricTable>>;

// A training begins, or goes on.
struct RunStarted {
  std::string job, device, run_dir;
  int workers = 1, threads = 0;  // threads of each worker
  int64_t epochs = 0, iterations_per_epoch = 0, parameters = 0;
  int64_t iteration = 0;              // of the checkpoint that it goes on from; 0: it is new
  int64_t samples_per_epoch = 0;      // that are trained on; 0: not told
  std::string mode = "reproducible";  // training.mode
};

// A step of the training was made.
struct StepDone {
  int epoch = 0;          // from 1
  int64_t iteration = 0;  // of the whole run, from 1
  double loss = 0, learn_rate = 0;
  double seconds = 0;  // since the loop began
};

// An epoch ended.
struct EpochDone {
  int epoch = 0;
  int64_t iteration = 0;
  double loss = 0;  // mean over the steps of the epoch
  double seconds = 0;
  bool complete = true;  // false: the run was stopped within the epoch, after this iteration
};

// The network was tried on other data.
struct ValidationDone {
  int epoch = 0;
  int64_t iteration = 0;
  double loss = 0, seconds = 0;
  MetricValues metrics;
  MetricTables tables = {};
};

// The training ended.
struct RunFinished {
  int epoch = 0;
  int64_t iteration = 0;
  double loss = 0, seconds = 0;
  MetricValues metrics;
  std::string stop_reason, fingerprint;
  MetricTables tables = {};
  std::string mode = "reproducible";  // training.mode: unless it is this, the fingerprint is that of this run alone
  std::string cause = {}, help = {};  // of a loss that is not finite; else empty
};

// Any of them.
using Event = std::variant<RunStarted, StepDone, EpochDone, ValidationDone, RunFinished>;

// Who receives events.
class Monitor {
 public:
  virtual ~Monitor() = default;
  virtual void receive(const Event& event) = 0;
};

// Hands each event to several monitors, in order; they must outlive it. Without any it is the silent monitor.
class Monitors : public Monitor {
 public:
  Monitors();
  ~Monitors() override;
  explicit Monitors(std::vector<Monitor*> sinks);
  void add(Monitor& sink);
  void receive(const Event& event) override;

 private:
  std::vector<Monitor*> sinks_;
};

}  // namespace retrace
