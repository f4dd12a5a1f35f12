#include "retrace/distributed/worker_scope.h"

#include <utility>

namespace retrace {
namespace {
thread_local bool inside_now = false;
}

bool inside_worker() { return inside_now; }

WorkerScope::WorkerScope(bool inside) : before_(std::exchange(inside_now, inside)) {}
WorkerScope::~WorkerScope() { inside_now = before_; }

}  // namespace retrace
