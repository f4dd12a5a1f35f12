#pragma once
// Group::exchange() over MPI.

#include <span>

#include "retrace/distributed/group.h"
#include "retrace/distributed/mpi_job.h"
#include "retrace/distributed/mpi_watch.h"

namespace retrace {

// See Group::exchange(); among the first ranks, as many as there are messages. An error is reported to all.
void mpi_exchange(MpiJob& job, std::span<const Sent> sent, std::span<const Received> received, const char* what,
                  double seconds, SignOfLife sign = SignOfLife::work);

}  // namespace retrace
