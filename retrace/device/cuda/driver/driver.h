#pragma once
// The part of the CUDA driver's interface that is used here, declared by ourselves: no header of CUDA is needed to
// compile, and the library is opened while the program runs.

#include <cstddef>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "retrace/base/shared_library.h"

struct CUctx_st;
struct CUevent_st;
struct CUfunc_st;
struct CUgraph_st;
struct CUgraphExec_st;
struct CUgraphNode_st;
struct CUkern_st;
struct CUmod_st;
struct CUstream_st;

namespace retrace::cuda {

using CUresult = int;
using CUdevice = int;
using CUdeviceptr = unsigned long long;
using CUcontext = CUctx_st*;
using CUevent = CUevent_st*;
using CUfunction = CUfunc_st*;
using CUgraph = CUgraph_st*;
using CUgraphExec = CUgraphExec_st*;
using CUgraphNode = CUgraphNode_st*;
using CUmodule = CUmod_st*;
using CUstream = CUstream_st*;

struct EdgeData {  // CUgraphEdgeData
  unsigned char from_port = 0, to_port = 0, type = 0, reserved[5] = {};
};
// The second launch may begin when every block of the first has begun; it waits for the first before it reads.
inline constexpr EdgeData kProgrammaticEdge{1, 0, 1};  // ..._NODE_PORT_PROGRAMMATIC, ..._TYPE_PROGRAMMATIC

struct KernelNodeParameters {  // CUDA_KERNEL_NODE_PARAMS_v2
  CUfunction function = nullptr;
  unsigned blocks_x = 1, blocks_y = 1, blocks_z = 1;
  unsigned threads_x = 1, threads_y = 1, threads_z = 1;
  unsigned shared_bytes = 0;
  void** kernel_parameters = nullptr;
  void** extra = nullptr;
  CUkern_st* kernel = nullptr;
  CUcontext context = nullptr;
};

// Values of the driver's constants.
enum : int {
  kComputeCapabilityMajor = 75,   // CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR
  kComputeCapabilityMinor = 76,   // CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR
  kMaxDynamicSharedBytes = 8,     // CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES
  kPtxVersion = 5,                // CU_FUNC_ATTRIBUTE_PTX_VERSION
  kStreamNonBlocking = 1,         // CU_STREAM_NON_BLOCKING
  kEventDefault = 0,              // CU_EVENT_DEFAULT
  kEventDisableTiming = 2,        // CU_EVENT_DISABLE_TIMING
  kErrorInvalidValue = 1,         // CUDA_ERROR_INVALID_VALUE
  kErrorOutOfMemory = 2,          // CUDA_ERROR_OUT_OF_MEMORY
  kErrorNoDevice = 100,           // CUDA_ERROR_NO_DEVICE
  kErrorInvalidContext = 201,     // CUDA_ERROR_INVALID_CONTEXT
  kErrorNoBinaryForDevice = 209,  // CUDA_ERROR_NO_BINARY_FOR_GPU
  kErrorNotFound = 500,           // CUDA_ERROR_NOT_FOUND
  kErrorNotReady = 600,           // CUDA_ERROR_NOT_READY
  kErrorIllegalAddress = 700,     // CUDA_ERROR_ILLEGAL_ADDRESS
};
// Names in the `extra` list of a launch.
inline void* const kLaunchEnd = nullptr;                            // CU_LAUNCH_PARAM_END
inline void* const kLaunchBuffer = reinterpret_cast<void*>(1);      // CU_LAUNCH_PARAM_BUFFER_POINTER
inline void* const kLaunchBufferSize = reinterpret_cast<void*>(2);  // CU_LAUNCH_PARAM_BUFFER_SIZE

// Every function that is used: its symbol and the types of its arguments. All return CUresult.
#define RT_DRIVER_CALLS(CALL)                                                                                      \
  CALL(cuInit, unsigned)                                                                                           \
  CALL(cuDriverGetVersion, int*)                                                                                   \
  CALL(cuGetErrorName, CUresult, const char**)                                                                     \
  CALL(cuGetErrorString, CUresult, const char**)                                                                   \
  CALL(cuDeviceGetCount, int*)                                                                                     \
  CALL(cuDeviceGet, CUdevice*, int)                                                                                \
  CALL(cuDeviceGetName, char*, int, CUdevice)                                                                      \
  CALL(cuDeviceGetAttribute, int*, int, CUdevice)                                                                  \
  CALL(cuDeviceGetPCIBusId, char*, int, CUdevice)                                                                  \
  CALL(cuDevicePrimaryCtxRetain, CUcontext*, CUdevice)                                                             \
  CALL(cuDevicePrimaryCtxRelease_v2, CUdevice)                                                                     \
  CALL(cuCtxPushCurrent_v2, CUcontext)                                                                             \
  CALL(cuCtxPopCurrent_v2, CUcontext*)                                                                             \
  CALL(cuMemGetInfo_v2, size_t*, size_t*)                                                                          \
  CALL(cuMemAlloc_v2, CUdeviceptr*, size_t)                                                                        \
  CALL(cuMemFree_v2, CUdeviceptr)                                                                                  \
  CALL(cuMemAllocHost_v2, void**, size_t)                                                                          \
  CALL(cuMemFreeHost, void*)                                                                                       \
  CALL(cuMemcpyHtoDAsync_v2, CUdeviceptr, const void*, size_t, CUstream)                                           \
  CALL(cuMemcpyDtoHAsync_v2, void*, CUdeviceptr, size_t, CUstream)                                                 \
  CALL(cuMemcpyDtoDAsync_v2, CUdeviceptr, CUdeviceptr, size_t, CUstream)                                           \
  CALL(cuMemcpyPeerAsync, CUdeviceptr, CUcontext, CUdeviceptr, CUcontext, size_t, CUstream)                        \
  CALL(cuStreamCreate, CUstream*, unsigned)                                                                        \
  CALL(cuStreamDestroy_v2, CUstream)                                                                               \
  CALL(cuStreamSynchronize, CUstream)                                                                              \
  CALL(cuStreamWaitEvent, CUstream, CUevent, unsigned)                                                             \
  CALL(cuEventCreate, CUevent*, unsigned)                                                                          \
  CALL(cuEventDestroy_v2, CUevent)                                                                                 \
  CALL(cuEventRecord, CUevent, CUstream)                                                                           \
  CALL(cuEventQuery, CUevent)                                                                                      \
  CALL(cuEventSynchronize, CUevent)                                                                                \
  CALL(cuEventElapsedTime, float*, CUevent, CUevent)                                                               \
  CALL(cuModuleLoadData, CUmodule*, const void*)                                                                   \
  CALL(cuModuleUnload, CUmodule)                                                                                   \
  CALL(cuModuleGetFunction, CUfunction*, CUmodule, const char*)                                                    \
  CALL(cuFuncSetAttribute, CUfunction, int, int)                                                                   \
  CALL(cuFuncGetAttribute, int*, int, CUfunction)                                                                  \
  CALL(cuLaunchKernel, CUfunction, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned, CUstream, \
       void**, void**)                                                                                             \
  CALL(cuGraphCreate, CUgraph*, unsigned)                                                                          \
  CALL(cuGraphDestroy, CUgraph)                                                                                    \
  CALL(cuGraphAddKernelNode_v2, CUgraphNode*, CUgraph, const CUgraphNode*, size_t, const KernelNodeParameters*)    \
  CALL(cuGraphAddEventRecordNode, CUgraphNode*, CUgraph, const CUgraphNode*, size_t, CUevent)                      \
  CALL(cuGraphInstantiateWithFlags, CUgraphExec*, CUgraph, unsigned long long)                                     \
  CALL(cuGraphExecKernelNodeSetParams_v2, CUgraphExec, CUgraphNode, const KernelNodeParameters*)                   \
  CALL(cuGraphExecDestroy, CUgraphExec)                                                                            \
  CALL(cuGraphLaunch, CUgraphExec, CUstream)
// Those that older drivers lack.
#define RT_NEWER_DRIVER_CALLS(CALL) \
  CALL(cuGraphAddDependencies_v2, CUgraph, const CUgraphNode*, const CUgraphNode*, const EdgeData*, size_t)  // 12.3

class Driver;

// One function of the driver.
template <class... Arguments>
class DriverCall {
 public:
  DriverCall(Driver& driver, const char* symbol, bool required = true);

  // Whether the driver has it.
  explicit operator bool() const { return function_ != nullptr; }

  // Throws the Error of driver_error() unless the call succeeds.
  template <class... Given>
  void operator()(Given... given) const;
  // The driver's answer, for callers that can go on after a failure.
  CUresult result(Arguments... arguments) const { return function_(arguments...); }

 private:
  Driver& driver_;
  const char* symbol_;
  CUresult (*function_)(Arguments...);
};

// The opened driver. Never closed.
class Driver {
 public:
  // Null, with the reason in `why_not`, where there is no driver, it is too old or it does not start. The file is
  // libcuda.so.1, or the one that RETRACE_CUDA_DRIVER names.
  static std::shared_ptr<const Driver> open(std::string& why_not);

  int version() const { return version_; }  // 12040 is 12.4
  // The error that a failed call means for the user: unavailable (out of memory; device or driver cannot do it) or
  // internal (a kernel failed, a wrong call), with the driver's name and text of the result.
  [[noreturn]] void fail(const char* symbol, CUresult result) const;

  Driver(const Driver&) = delete;

 private:
  explicit Driver(SharedLibrary library);
  std::string start();  // why not, or ""
  std::string describe(CUresult result) const;
  void* find(const char* symbol, bool required);
  template <class... Arguments>
  friend class DriverCall;

  SharedLibrary library_;
  std::vector<std::string> missing_;
  int version_ = 0;

 public:
#define RT_DRIVER_MEMBER(symbol, ...) DriverCall<__VA_ARGS__> symbol{*this, #symbol};
  RT_DRIVER_CALLS(RT_DRIVER_MEMBER)
#undef RT_DRIVER_MEMBER
#define RT_DRIVER_MEMBER(symbol, ...) DriverCall<__VA_ARGS__> symbol{*this, #symbol, false};
  RT_NEWER_DRIVER_CALLS(RT_DRIVER_MEMBER)
#undef RT_DRIVER_MEMBER
};

template <class... Arguments>
DriverCall<Arguments...>::DriverCall(Driver& driver, const char* symbol, bool required)
    : driver_(driver),
      symbol_(symbol),
      function_(reinterpret_cast<CUresult (*)(Arguments...)>(driver.find(symbol, required))) {}

template <class... Arguments>
template <class... Given>
void DriverCall<Arguments...>::operator()(Given... given) const {
  if (const CUresult failure = function_(given...)) driver_.fail(symbol_, failure);
}

// 12040 as "12.4".
std::string version_text(int version);

}  // namespace retrace::cuda
