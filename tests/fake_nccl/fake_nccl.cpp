// An NCCL for tests: a library that RETRACE_NCCL names in place of libnccl.so.2. It moves bytes between memory of the
// host, where emulated devices have theirs, as files of a folder, so that ranks may be threads or processes. As NCCL
// may, it does the messages of a group in any order, some of them late, while the call has returned. FAKE_NCCL is read
// when a communicator begins: "drop=R" loses all that rank R sends behind its first 8 messages, "fail=R" lets rank R's
// ninth fail.

#include <atomic>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <map>
#include <random>
#include <string>
#include <thread>
#include <vector>

#include "retrace/distributed/nccl.h"

using retrace::kNcclInProgress;
using retrace::kNcclSuccess;
using retrace::kNcclUint8;
using retrace::NcclConfig;
using retrace::NcclUniqueId;
namespace files = std::filesystem;

namespace {

constexpr int kRemoteError = 6, kInvalidUsage = 5, kHealthy = 8;

struct Operation {
  bool sends;
  void* memory;
  size_t bytes;
  int peer;
};

void nap(std::mt19937& random, unsigned most) {
  std::this_thread::sleep_for(std::chrono::microseconds(random() % most));
}

}  // namespace

struct ncclComm {
  int ranks, rank;
  std::string folder;
  std::mt19937 random;
  std::map<std::string, long> next;  // messages so far, by direction
  int messages = 0, drop = -1, fail = -1;
  std::atomic<int> state{kNcclInProgress};
  std::atomic<bool> aborted{false};
  std::thread thread;

  ncclComm(int size, int own, const char* id)
      : ranks(size), rank(own), folder(id), random(static_cast<unsigned>(own) * 7919 + 1) {
    const char* text = std::getenv("FAKE_NCCL");
    if (text) std::sscanf(text, "drop=%d", &drop), std::sscanf(text, "fail=%d", &fail);
    thread = std::thread([this] { meet(); });
  }
  ~ncclComm() {
    aborted = true;
    if (thread.joinable()) thread.join();
    write("left-" + std::to_string(rank), nullptr, 0);
    for (int r = 0; r < ranks; ++r)
      if (!files::exists(folder + "/left-" + std::to_string(r))) return;
    std::error_code ignored;
    files::remove_all(folder, ignored);
  }

  // A file is there with all its bytes, or not at all.
  void write(const std::string& name, const void* data, size_t bytes) {
    const std::string path = folder + "/" + name, part = path + ".part-" + std::to_string(rank);
    std::ofstream(part, std::ios::binary).write(static_cast<const char*>(data), static_cast<std::streamsize>(bytes));
    std::error_code ignored;
    files::rename(part, path, ignored);
  }
  void meet() {
    write("here-" + std::to_string(rank), nullptr, 0);
    for (int r = 0; r < ranks && !aborted; ++r)
      while (!aborted && !files::exists(folder + "/here-" + std::to_string(r))) nap(random, 500);
    state = kNcclSuccess;
  }

  void run(std::vector<Operation> operations) {
    if (thread.joinable()) thread.join();
    state = kNcclInProgress;
    thread = std::thread([this, all = std::move(operations)]() mutable { work_off(std::move(all)); });
  }
  // Messages of one direction keep their numbers, whatever is done first.
  void work_off(std::vector<Operation> operations) {
    std::vector<std::pair<Operation, std::string>> left;
    for (const Operation& one : operations) {
      const int from = one.sends ? rank : one.peer, to = one.sends ? one.peer : rank;
      const std::string way = std::to_string(from) + "-" + std::to_string(to);
      left.emplace_back(one, way + "-" + std::to_string(next[(one.sends ? "s" : "r") + way]++));
    }
    for (unsigned idle = 0; !left.empty() && !aborted; ++idle) {
      const size_t i = random() % left.size();
      // Who waits for long uses next to no processor: that would be a sign of life of this process.
      nap(random, idle > 230 ? 200000 : idle > 200 ? 20000 : random() % 8 == 0 ? 3000 : 30);
      if (left[i].first.sends ? send(left[i].first, left[i].second) : receive(left[i].first, left[i].second))
        left.erase(left.begin() + static_cast<std::ptrdiff_t>(i));
      if (state != kNcclInProgress) return;
    }
    if (!aborted) state = kNcclSuccess;
  }
  bool send(const Operation& one, const std::string& name) {
    const bool late = ++messages > kHealthy;
    if (late && fail == rank) state = kRemoteError;
    if (!(late && (drop == rank || fail == rank))) write(name, one.memory, one.bytes);
    return true;
  }
  bool receive(const Operation& one, const std::string& name) {
    const std::string path = folder + "/" + name;
    if (!files::exists(path)) return false;
    if (files::file_size(path) != one.bytes) return state = kRemoteError, true;
    std::ifstream(path, std::ios::binary).read(static_cast<char*>(one.memory), static_cast<std::streamsize>(one.bytes));
    files::remove(path);
    return true;
  }
};

namespace {
thread_local bool in_group = false;
thread_local std::map<ncclComm*, std::vector<Operation>> grouped;

int add(ncclComm* comm, const Operation& operation) {
  if (!in_group || operation.peer < 0 || operation.peer >= comm->ranks || comm->state != kNcclSuccess)
    return kInvalidUsage;
  grouped[comm].push_back(operation);
  return kNcclInProgress;
}
}  // namespace

extern "C" {

int ncclGetVersion(int* version) { return *version = 22809, kNcclSuccess; }
const char* ncclGetErrorString(int result) {
  return result == kRemoteError ? "the fake's remote error" : "the fake's error";
}

int ncclGetUniqueId(NcclUniqueId* id) {
  std::string folder = (files::temp_directory_path() / "fake_nccl_XXXXXX").string();
  if (!mkdtemp(folder.data()) || folder.size() >= sizeof id->internal) return kInvalidUsage;
  std::memcpy(id->internal, folder.c_str(), folder.size() + 1);
  return kNcclSuccess;
}

int ncclCommInitRankConfig(ncclComm** comm, int ranks, NcclUniqueId id, int rank, NcclConfig* config) {
  if (config->size != sizeof *config || config->magic != 0xcafebeef || config->blocking != 0) return kInvalidUsage;
  *comm = new ncclComm(ranks, rank, id.internal);
  return kNcclInProgress;
}

int ncclCommGetAsyncError(ncclComm* comm, int* state) { return *state = comm->state, kNcclSuccess; }
int ncclCommAbort(ncclComm* comm) { return delete comm, kNcclSuccess; }

int ncclGroupStart() { return in_group = true, kNcclSuccess; }
int ncclGroupEnd() {
  if (!in_group) return kInvalidUsage;
  in_group = false;
  for (auto& [comm, operations] : grouped) comm->run(std::move(operations));
  grouped.clear();
  return kNcclInProgress;
}
int ncclSend(const void* memory, size_t count, int type, int peer, ncclComm* comm, void*) {
  return type == kNcclUint8 ? add(comm, {true, const_cast<void*>(memory), count, peer}) : kInvalidUsage;
}
int ncclRecv(void* memory, size_t count, int type, int peer, ncclComm* comm, void*) {
  return type == kNcclUint8 ? add(comm, {false, memory, count, peer}) : kInvalidUsage;
}
}
