// libretrace_mpi.so: MPI behind the table of mpi_module.h, and nothing else.

#include "retrace/distributed/mpi_module/mpi_module.h"

#include <mpi.h>

#include <algorithm>
#include <cstring>
#include <initializer_list>

namespace {

static_assert(sizeof(MPI_Request) <= sizeof(void*), "a request is kept in a pointer");

MPI_Comm everyone = MPI_COMM_NULL;  // our own, so that no message of the program's can be taken for ours
bool ours_to_end = false;

MPI_Request handle_of(const RetraceMpiRequest* request) {
  MPI_Request handle;
  std::memcpy(&handle, &request->handle, sizeof handle);
  return handle;
}

void store(RetraceMpiRequest* request, MPI_Request handle) { std::memcpy(&request->handle, &handle, sizeof handle); }

// Copies as much of the text as there is room for.
void copy(const char* text, char* to, size_t room) {
  const size_t length = std::min(std::strlen(text), room - 1);
  std::memcpy(to, text, length);
  to[length] = '\0';
}

int first_error(std::initializer_list<int> codes) {
  for (const int code : codes)
    if (code != MPI_SUCCESS) return code;
  return MPI_SUCCESS;
}

int start(int* thread_level) {
  int started = 0;
  MPI_Initialized(&started);
  if (started) return MPI_Query_thread(thread_level);
  ours_to_end = true;
  return MPI_Init_thread(nullptr, nullptr, MPI_THREAD_MULTIPLE, thread_level);
}

int find_place(RetraceMpiPlace* place) {
  MPI_Comm machine = MPI_COMM_NULL;
  int length = 0;
  char host[MPI_MAX_PROCESSOR_NAME] = "";
  if (const int error = MPI_Comm_split_type(everyone, MPI_COMM_TYPE_SHARED, 0, MPI_INFO_NULL, &machine)) return error;
  const int error = first_error({MPI_Comm_rank(everyone, &place->rank), MPI_Comm_size(everyone, &place->size),
                                 MPI_Comm_rank(machine, &place->local_rank), MPI_Comm_size(machine, &place->local_size),
                                 MPI_Get_processor_name(host, &length), MPI_Comm_free(&machine)});
  copy(host, place->host, sizeof place->host);
  return error;
}

int initialise(RetraceMpiPlace* place) {
  *place = {};
  int level = 0;
  if (const int error = start(&level)) return error;
  place->any_thread = level == MPI_THREAD_MULTIPLE;
  place->ours = ours_to_end;
  if (const int error = MPI_Comm_dup(MPI_COMM_WORLD, &everyone)) return error;
  if (const int error = MPI_Comm_set_errhandler(everyone, MPI_ERRORS_RETURN)) return error;
  return find_place(place);
}

int finalise() {
  int ended = 0;
  MPI_Finalized(&ended);
  return ended || !ours_to_end ? MPI_SUCCESS : MPI_Finalize();
}

int abort_all(int code) { return MPI_Abort(everyone, code); }

int send(const void* data, size_t bytes, int peer, int tag, RetraceMpiRequest* request) {
  MPI_Request handle;
  const int error = MPI_Isend(data, static_cast<int>(bytes), MPI_BYTE, peer, tag, everyone, &handle);
  store(request, handle);
  return error;
}

int receive(void* data, size_t bytes, int peer, int tag, RetraceMpiRequest* request) {
  MPI_Request handle;
  const int error = MPI_Irecv(data, static_cast<int>(bytes), MPI_BYTE, peer, tag, everyone, &handle);
  store(request, handle);
  return error;
}

int test(RetraceMpiRequest* request, int* done, size_t* bytes) {
  MPI_Request handle = handle_of(request);
  MPI_Status status;
  int count = 0;
  int error = MPI_Test(&handle, done, &status);
  store(request, handle);
  if (!error && *done) error = MPI_Get_count(&status, MPI_BYTE, &count);
  *bytes = static_cast<size_t>(count > 0 ? count : 0);
  return error;
}

int cancel(RetraceMpiRequest* request) {
  MPI_Request handle = handle_of(request);
  return MPI_Cancel(&handle);
}

int probe(int tag, int* found, int* peer, size_t* bytes) {
  MPI_Status status;
  int count = 0;
  int error = MPI_Iprobe(MPI_ANY_SOURCE, tag, everyone, found, &status);
  if (error || !*found) return error;
  error = MPI_Get_count(&status, MPI_BYTE, &count);
  *peer = status.MPI_SOURCE;
  *bytes = static_cast<size_t>(count);
  return error;
}

void describe(int error, char* text, size_t room) {
  char whole[MPI_MAX_ERROR_STRING] = "";
  int length = 0;
  MPI_Error_string(error, whole, &length);
  copy(whole, text, room);
}

const RetraceMpi table = {initialise, finalise, abort_all, send, receive, test, cancel, probe, describe};

}  // namespace

extern "C" __attribute__((visibility("default"))) const RetraceMpi* retrace_mpi(int version) {
  return version == kRetraceMpiVersion ? &table : nullptr;
}
