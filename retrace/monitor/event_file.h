#pragma once
// Scalars of a training as an event file of TensorBoard.

#include <filesystem>
#include <memory>

#include "retrace/monitor/monitor.h"

namespace retrace {

// Writes a file events.out.tfevents.TIME.HOST.PROCESS.N into a folder, which is made if it is not there. Its tags are
// the names of run_series(): loss, learn_rate, epoch_loss, validation_loss, validation/NAME; its steps are iterations,
// its values f32. A training that goes on begins a file of its own, which takes the place of what was written of later
// iterations. A thread of its own writes, at least every second while events come: a process that is killed
// loses what came since. One that cannot write is warned of
// once, and the training goes on. Errors: output, for a folder that cannot be made.
class EventFile : public Monitor {
 public:
  explicit EventFile(std::filesystem::path folder);
  // Waits until all is written.
  ~EventFile() override;
  void receive(const Event& event) override;

 private:
  struct Writer;
  std::unique_ptr<Writer> writer_;
};

}  // namespace retrace
