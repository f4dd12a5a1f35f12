#pragma once
// The MPI module in this process: it is found, loaded and initialised by the constructor, and finalised with the
// object.

#include "retrace/distributed/mpi_module/mpi_module.h"

namespace retrace {

class MpiLibrary {
 public:
  // Loads the module and waits for the other ranks. It looks for the module in this order: RETRACE_MPI_MODULE;
  // libretrace_mpi.so in the folder of the running program, in ../lib/retrace and in .. from there; where the system
  // looks for libraries. Throws Error(unavailable) that says what to install or to set; Error(lost) if not all ranks
  // come within so many seconds, or kLeastSecondsToBegin. Then a thread goes on waiting in MPI for them, and only the
  // end of the process ends it.
  explicit MpiLibrary(double seconds);
  // Finalises MPI, together with the other ranks, unless leave() was called or MPI was initialised before.
  ~MpiLibrary();
  MpiLibrary(const MpiLibrary&) = delete;
  MpiLibrary& operator=(const MpiLibrary&) = delete;

  const RetraceMpiPlace& place() const { return place_; }
  // Called after something went wrong here or elsewhere: MPI is then not finalised. The others may never come to that
  // point, and mpirun 4.1 can hang if only some ranks finalise MPI.
  void leave() { left_ = true; }

  // As in the table of the module, with Error(lost) for its error codes.
  RetraceMpiRequest send(const void* data, size_t bytes, int peer, int tag) const;
  RetraceMpiRequest receive(void* data, size_t bytes, int peer, int tag) const;
  bool test(RetraceMpiRequest& request, size_t* bytes = nullptr) const;
  void cancel(RetraceMpiRequest& request) const;
  bool probe(int tag, int* peer, size_t* bytes) const;
  void abort(int code) const;

 private:
  void check(int error) const;
  int initialise(double patience);

  const RetraceMpi* mpi_;
  RetraceMpiPlace place_ = {};
  bool left_ = false;
};

}  // namespace retrace
