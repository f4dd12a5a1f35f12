#pragma once
// Whether this thread runs a worker of a pool: pools inside of one are refused.

namespace retrace {

bool inside_worker();

// Says so for its lifetime. A piece of work that a worker was given as a whole (parallel_for, submit) is outside: it
// may train on a pool of its own.
class WorkerScope {
 public:
  explicit WorkerScope(bool inside);
  ~WorkerScope();
  WorkerScope(const WorkerScope&) = delete;
  WorkerScope& operator=(const WorkerScope&) = delete;

 private:
  bool before_;
};

}  // namespace retrace
