#pragma once
// What the files of the fake driver share.

#include <condition_variable>
#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <set>
#include <string>
#include <vector>

#include "retrace/device/cuda/driver/driver.h"
#include "tests/fake_cuda/fake_cuda.h"

struct CUctx_st {
  int device;
};
struct CUfunc_st {
  std::string name;
  int allowed_shared = 0;
};
struct CUmod_st {
  std::map<std::string, CUfunc_st> functions;
};
struct CUstream_st {
  std::deque<std::function<int()>> work;
};
struct CUevent_st {
  CUstream_st* stream = nullptr;
  int recorded = 0, reached = 0;
  bool timed = false;
  double time = 0;  // seconds, when it was reached
};
struct CUgraphNode_st {
  fake_cuda::Launched launch;
  size_t dependencies;
  CUevent_st* event = nullptr;  // instead of a launch
  size_t programmatic = 0;      // of the dependencies
};
struct CUgraph_st {
  std::vector<std::unique_ptr<CUgraphNode_st>> nodes;
};
struct CUgraphExec_st {
  std::map<CUgraphNode_st*, size_t> index;
  std::vector<CUgraphNode_st> nodes;
};

namespace fake_cuda {

using namespace retrace::cuda;

struct Failure {
  int left, result;
};

struct State {
  double time = 0;  // of the device, seconds
  std::vector<fake_cuda::Device> devices = {{"Fake H100"}};
  int version = 13000;
  bool started = false;
  int broken = 0;
  bool held = false;
  std::map<std::string, int> calls;
  std::map<std::string, Failure> failures;
  std::map<uintptr_t, size_t> memory;
  std::set<void*> pinned;
  std::map<int, int> retained;
  std::map<int, CUctx_st> contexts;
  std::set<CUstream> streams;
  std::set<CUevent> events;
  std::vector<std::shared_ptr<CUevent_st>> destroyed_events;  // streams may still wait for them
  std::set<CUmodule> modules;
  std::set<CUgraph> graphs;
  std::set<CUgraphExec> executables;
  std::map<std::string, int> allowed_shared;
  std::vector<fake_cuda::Launched> executed;
  std::vector<std::vector<size_t>> dependencies, programmatic;
  int ptx_version = 80;
};

extern State& state;
extern std::recursive_mutex mutex;
extern std::condition_variable_any progress;
// Contexts that a thread has pushed. Without a destructor: statics of a program that links the fake call it later.
struct Contexts {
  CUcontext all[16];
  size_t count;
  bool empty() const { return count == 0; }
  CUcontext back() const { return all[count - 1]; }
  void push_back(CUcontext context) { all[count++] = context; }
  void pop_back() { --count; }
};
extern thread_local Contexts current;

// Counts a call of `symbol`; what it is to return at once, or 0.
int outcome(const char* symbol);

// Counts the call of the function that it stands in, and leaves it as planned or where something is missing.
#define FAKE_CALL_ANYWHERE()         \
  const std::lock_guard lock(mutex); \
  if (const int result = outcome(__func__)) return result
#define FAKE_CALL()     \
  FAKE_CALL_ANYWHERE(); \
  if (!state.started) return 3
#define FAKE_CALL_IN_CONTEXT() \
  FAKE_CALL();                 \
  if (current.empty()) return kErrorInvalidContext

template <class T>
int create(std::set<T*>& all, T** result) {
  *result = new T();
  all.insert(*result);
  return 0;
}

template <class T>
int destroy(std::set<T*>& all, T* object) {
  if (all.erase(object) == 0) return 400;
  delete object;
  return 0;
}

}  // namespace fake_cuda
