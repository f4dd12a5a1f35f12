#include "tests/fake_cuda/fake_cuda.h"

#include <cstdio>
#include <cstdlib>
#include <cstring>

#include "tests/fake_cuda/state.h"

using namespace fake_cuda;

namespace fake_cuda {

State& state = *new State;
std::recursive_mutex mutex;
std::condition_variable_any progress;
thread_local Contexts current;

}  // namespace fake_cuda

namespace {

bool ended = false;
struct End {
  ~End() { ended = true; }
} at_end;

bool in_memory(CUdeviceptr address, size_t bytes) {
  auto block = state.memory.upper_bound(address);
  if (block == state.memory.begin()) return false;
  --block;
  return address + bytes <= block->first + block->second;
}

bool is_pinned(const void* memory) { return state.pinned.count(const_cast<void*>(memory)) > 0; }
std::byte* bytes_at(CUdeviceptr address) { return reinterpret_cast<std::byte*>(static_cast<uintptr_t>(address)); }

// Works off the stream until `done` or until nothing is left.
template <class Done>
int work_off(CUstream stream, Done done) {
  progress.wait(mutex, [] { return !state.held; });  // other threads may call
  while (!state.broken && !done() && !stream->work.empty()) {
    const auto work = std::move(stream->work.front());
    stream->work.pop_front();
    state.broken = work();
  }
  return state.broken;
}

}  // namespace

namespace fake_cuda {

int outcome(const char* symbol) {
  if (ended) return 4;
  ++state.calls[symbol];
  const auto planned = state.failures.find(symbol);
  if (planned == state.failures.end() || --planned->second.left > 0) return 0;
  const int result = planned->second.result;
  state.failures.erase(planned);
  return result;
}

void reset(std::vector<Device> devices, int version) {
  const std::lock_guard lock(mutex);
  for (const auto& [address, bytes] : state.memory) std::free(bytes_at(address));
  state = State();
  state.devices = std::move(devices);
  state.version = version;
}

void fail(const std::string& symbol, int nth, int result) {
  const std::lock_guard lock(mutex);
  state.failures[symbol] = {nth, result};
}

void hold(bool held) {
  const std::lock_guard lock(mutex);
  state.held = held;
  progress.notify_all();
}

void break_device(int result) {
  const std::lock_guard lock(mutex);
  state.broken = result;
}

int calls(const std::string& symbol) {
  const std::lock_guard lock(mutex);
  return state.calls[symbol];
}

std::vector<Launched> executed() {
  const std::lock_guard lock(mutex);
  return state.executed;
}

std::vector<std::vector<size_t>> graph_dependencies() {
  const std::lock_guard lock(mutex);
  return state.dependencies;
}

std::vector<std::vector<size_t>> programmatic_dependencies() {
  const std::lock_guard lock(mutex);
  return state.programmatic;
}

void set_kernel_capability(int capability) {
  const std::lock_guard lock(mutex);
  state.ptx_version = capability;
}

int allowed_shared(const std::string& kernel) {
  const std::lock_guard lock(mutex);
  return state.allowed_shared[kernel];
}

std::map<std::string, int> held() {
  const std::lock_guard lock(mutex);
  int contexts = 0;
  for (const auto& [device, count] : state.retained) contexts += count;
  const auto count = [](const auto& all) { return static_cast<int>(all.size()); };
  std::map<std::string, int> all = {{"memory", count(state.memory)}, {"pinned", count(state.pinned)},
                                    {"context", contexts},           {"stream", count(state.streams)},
                                    {"event", count(state.events)},  {"module", count(state.modules)},
                                    {"graph", count(state.graphs)},  {"executable", count(state.executables)}};
  std::erase_if(all, [](const auto& entry) { return entry.second == 0; });
  return all;
}

}  // namespace fake_cuda

extern "C" {

int cuInit(unsigned) {
  FAKE_CALL_ANYWHERE();
  if (state.devices.empty()) return kErrorNoDevice;
  state.started = true;
  return 0;
}

int cuDriverGetVersion(int* version) {
  FAKE_CALL_ANYWHERE();
  *version = state.version;
  return 0;
}

int cuGetErrorName(int result, const char** text) {
  static const std::map<int, const char*> names = {{1, "CUDA_ERROR_INVALID_VALUE"},
                                                   {2, "CUDA_ERROR_OUT_OF_MEMORY"},
                                                   {100, "CUDA_ERROR_NO_DEVICE"},
                                                   {209, "CUDA_ERROR_NO_BINARY_FOR_GPU"},
                                                   {222, "CUDA_ERROR_UNSUPPORTED_PTX_VERSION"},
                                                   {700, "CUDA_ERROR_ILLEGAL_ADDRESS"}};
  const auto name = names.find(result);
  *text = name == names.end() ? nullptr : name->second;
  return name == names.end();
}

int cuGetErrorString(int result, const char** text) {
  *text = result == 700 ? "an illegal memory access was encountered" : "the fake driver's text";
  return 0;
}

int cuDeviceGetCount(int* count) {
  FAKE_CALL();
  *count = static_cast<int>(state.devices.size());
  return 0;
}

int cuDeviceGet(CUdevice* device, int ordinal) {
  FAKE_CALL();
  *device = ordinal;
  return 0;
}

int cuDeviceGetName(char* text, int size, CUdevice device) {
  FAKE_CALL();
  std::strncpy(text, state.devices.at(static_cast<size_t>(device)).name.c_str(), static_cast<size_t>(size));
  return 0;
}

int cuDeviceGetAttribute(int* value, int attribute, CUdevice device) {
  FAKE_CALL();
  const int capability = state.devices.at(static_cast<size_t>(device)).capability;
  if (attribute != kComputeCapabilityMajor && attribute != kComputeCapabilityMinor) return kErrorInvalidValue;
  *value = attribute == kComputeCapabilityMajor ? capability / 10 : capability % 10;
  return 0;
}

int cuDeviceGetPCIBusId(char* text, int size, CUdevice device) {
  FAKE_CALL();
  std::snprintf(text, static_cast<size_t>(size), "0000:%02x:00.0", device + 1);
  return 0;
}

int cuDevicePrimaryCtxRetain(CUcontext* context, CUdevice device) {
  FAKE_CALL();
  ++state.retained[device];
  *context = &(state.contexts[device] = {device});
  return 0;
}

int cuDevicePrimaryCtxRelease_v2(CUdevice device) {
  FAKE_CALL();
  return --state.retained[device] >= 0 ? 0 : kErrorInvalidContext;
}

int cuCtxPushCurrent_v2(CUcontext context) {
  FAKE_CALL();
  current.push_back(context);
  return 0;
}

int cuCtxPopCurrent_v2(CUcontext* context) {
  FAKE_CALL_IN_CONTEXT();
  *context = current.back();
  current.pop_back();
  return 0;
}

int cuMemGetInfo_v2(size_t* unused, size_t* total) {
  FAKE_CALL_IN_CONTEXT();
  *total = *unused = state.devices.at(static_cast<size_t>(current.back()->device)).memory;
  for (const auto& [address, bytes] : state.memory) *unused -= bytes;
  return 0;
}

int cuMemAlloc_v2(CUdeviceptr* address, size_t bytes) {
  FAKE_CALL_IN_CONTEXT();
  if (bytes == 0) return kErrorInvalidValue;
  size_t unused = state.devices.at(static_cast<size_t>(current.back()->device)).memory;
  for (const auto& [block, count] : state.memory) unused -= count;
  if (bytes > unused) return kErrorOutOfMemory;
  *address = reinterpret_cast<uintptr_t>(std::aligned_alloc(256, (bytes + 255) / 256 * 256));
  state.memory[*address] = bytes;
  return 0;
}

int cuMemFree_v2(CUdeviceptr address) {
  FAKE_CALL_IN_CONTEXT();
  if (state.memory.erase(address) == 0) return kErrorInvalidValue;
  std::free(bytes_at(address));
  return 0;
}

int cuMemAllocHost_v2(void** memory, size_t bytes) {
  FAKE_CALL_IN_CONTEXT();
  state.pinned.insert(*memory = std::malloc(bytes));
  return 0;
}

int cuMemFreeHost(void* memory) {
  FAKE_CALL_IN_CONTEXT();
  if (state.pinned.erase(memory) == 0) return kErrorInvalidValue;
  std::free(memory);
  return 0;
}

int cuMemcpyHtoDAsync_v2(CUdeviceptr to, const void* from, size_t bytes, CUstream stream) {
  FAKE_CALL_IN_CONTEXT();
  stream->work.emplace_back([=] {
    if (!in_memory(to, bytes) || !is_pinned(from)) return int{kErrorIllegalAddress};
    std::memcpy(bytes_at(to), from, bytes);
    return 0;
  });
  return 0;
}

int cuMemcpyDtoHAsync_v2(void* to, CUdeviceptr from, size_t bytes, CUstream stream) {
  FAKE_CALL_IN_CONTEXT();
  stream->work.emplace_back([=] {
    if (!in_memory(from, bytes) || !is_pinned(to)) return int{kErrorIllegalAddress};
    std::memcpy(to, bytes_at(from), bytes);
    return 0;
  });
  return 0;
}

int cuMemcpyDtoDAsync_v2(CUdeviceptr to, CUdeviceptr from, size_t bytes, CUstream stream) {
  FAKE_CALL_IN_CONTEXT();
  stream->work.emplace_back([=] {
    if (!in_memory(from, bytes) || !in_memory(to, bytes)) return int{kErrorIllegalAddress};
    std::memmove(bytes_at(to), bytes_at(from), bytes);
    return 0;
  });
  return 0;
}

int cuMemcpyPeerAsync(CUdeviceptr to, CUcontext, CUdeviceptr from, CUcontext, size_t bytes, CUstream stream) {
  return cuMemcpyDtoDAsync_v2(to, from, bytes, stream);
}

int cuStreamCreate(CUstream* stream, unsigned) {
  FAKE_CALL_IN_CONTEXT();
  return create(state.streams, stream);
}

int cuStreamDestroy_v2(CUstream stream) {
  FAKE_CALL_IN_CONTEXT();
  return destroy(state.streams, stream);
}

int cuStreamSynchronize(CUstream stream) {
  FAKE_CALL_IN_CONTEXT();
  return work_off(stream, [] { return false; });
}

int cuEventCreate(CUevent* event, unsigned flags) {
  FAKE_CALL_IN_CONTEXT();
  create(state.events, event);
  (*event)->timed = flags == kEventDefault;
  return 0;
}

int cuEventDestroy_v2(CUevent event) {
  FAKE_CALL_IN_CONTEXT();
  if (state.events.erase(event) == 0) return 400;
  state.destroyed_events.emplace_back(event);
  return 0;
}

int cuEventRecord(CUevent event, CUstream stream) {
  FAKE_CALL_IN_CONTEXT();
  event->stream = stream;
  stream->work.emplace_back(
      [event, number = ++event->recorded] { return event->reached = number, event->time = state.time, 0; });
  return 0;
}

int cuEventQuery(CUevent event) {
  FAKE_CALL_IN_CONTEXT();
  return event->reached == event->recorded ? 0 : int{kErrorNotReady};
}

int cuStreamWaitEvent(CUstream stream, CUevent event, unsigned) {
  FAKE_CALL_IN_CONTEXT();
  stream->work.emplace_back([from = event->stream, event, number = event->recorded] {
    return work_off(from, [=] { return event->reached >= number; });
  });
  return 0;
}

int cuEventElapsedTime(float* milliseconds, CUevent from, CUevent to) {
  FAKE_CALL_IN_CONTEXT();
  if (!from->timed || !to->timed) return 400;
  if (from->reached != from->recorded || to->reached != to->recorded) return 600;
  *milliseconds = static_cast<float>((to->time - from->time) * 1e3);
  return 0;
}

int cuEventSynchronize(CUevent event) {
  FAKE_CALL_IN_CONTEXT();
  if (event->reached == event->recorded) return 0;
  return work_off(event->stream, [event] { return event->reached == event->recorded; });
}
}
