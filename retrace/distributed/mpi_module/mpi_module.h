#pragma once
// The functions of MPI that the library needs: one table, which libretrace_mpi.so brings. The module alone is linked
// with MPI and is loaded when ranks are wanted. Only types of C: library and module may come from different compilers.

#include <stddef.h>

// Raised with every change of this file.
enum { kRetraceMpiVersion = 1 };

// An operation under way.
struct RetraceMpiRequest {
  void* handle;
};

struct RetraceMpiPlace {
  int rank, size;
  int local_rank, local_size;  // among the ranks on this machine
  int any_thread;              // whether all threads may call at the same time
  int ours;                    // whether initialise() started MPI, so that finalise() ends it
  char host[256];
};

// Each function returns 0, or an error code of MPI, whose text `describe` writes. Tags are small and not negative;
// messages with one tag arrive in the order in which they were sent.
struct RetraceMpi {
  // All ranks call it. A program that initialised MPI itself keeps it, and finalises it itself.
  int (*initialise)(RetraceMpiPlace* place);
  // All ranks call it.
  int (*finalise)();
  // Ends all ranks with this exit code, and does not return if that works.
  int (*abort)(int code);

  // The memory belongs to the operation until `test` says done.
  int (*send)(const void* data, size_t bytes, int peer, int tag, RetraceMpiRequest* request);
  int (*receive)(void* data, size_t bytes, int peer, int tag, RetraceMpiRequest* request);
  // bytes: of a message that was received.
  int (*test)(RetraceMpiRequest* request, int* done, size_t* bytes);
  // A receive without a message yet; `test` will say done.
  int (*cancel)(RetraceMpiRequest* request);
  // Whether a message with this tag has come from any rank; from which, and its size.
  int (*probe)(int tag, int* found, int* peer, size_t* bytes);

  void (*describe)(int error, char* text, size_t room);
};

// The one exported function. Null if the module has another version than the caller.
extern "C" const RetraceMpi* retrace_mpi(int version);
