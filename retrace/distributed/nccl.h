#pragma once
// The part of NCCL's interface that is used here, declared by ourselves: no header of NCCL is needed to compile, and
// the library is opened while the program runs. NCCL moves bytes; it adds nothing.

#include <cstddef>
#include <memory>
#include <string>

#include "retrace/base/shared_library.h"

struct ncclComm;

namespace retrace {

using NcclResult = int;
using NcclComm = ncclComm*;

struct NcclUniqueId {  // ncclUniqueId
  char internal[128] = {};
};

// ncclConfig_t as of 2.14, to which later versions have only added; with `blocking` 0 no call waits for other ranks.
struct NcclConfig {
  size_t size = sizeof(NcclConfig);
  unsigned magic = 0xcafebeef;
  unsigned version = 21400;
  int blocking = 0;
  int padding = 0;
};

// Values of NCCL's constants.
enum : int {
  kNcclSuccess = 0,     // ncclSuccess
  kNcclInProgress = 7,  // ncclInProgress
  kNcclUint8 = 1,       // ncclUint8
};

// Every function that is used: its symbol, what it returns and the types of its arguments.
#define RT_NCCL_CALLS(CALL)                                                                \
  CALL(ncclGetVersion, NcclResult, int*)                                                   \
  CALL(ncclGetErrorString, const char*, NcclResult)                                        \
  CALL(ncclGetUniqueId, NcclResult, NcclUniqueId*)                                         \
  CALL(ncclCommInitRankConfig, NcclResult, NcclComm*, int, NcclUniqueId, int, NcclConfig*) \
  CALL(ncclCommGetAsyncError, NcclResult, NcclComm, NcclResult*)                           \
  CALL(ncclCommAbort, NcclResult, NcclComm)                                                \
  CALL(ncclGroupStart, NcclResult)                                                         \
  CALL(ncclGroupEnd, NcclResult)                                                           \
  CALL(ncclSend, NcclResult, const void*, size_t, int, int, NcclComm, void*)               \
  CALL(ncclRecv, NcclResult, void*, size_t, int, int, NcclComm, void*)

// The opened library. Never closed.
class Nccl {
 public:
  // Null, with the reason in `why_not`, where there is none or it is older than 2.14. The file is libnccl.so.2, or the
  // one that RETRACE_NCCL names. Opened once.
  static std::shared_ptr<const Nccl> open(std::string& why_not);

  int version() const { return version_; }  // 22809 is 2.28.9

#define RT_NCCL_MEMBER(symbol, result, ...) result (*symbol)(__VA_ARGS__) = nullptr;
  RT_NCCL_CALLS(RT_NCCL_MEMBER)
#undef RT_NCCL_MEMBER

 private:
  explicit Nccl(SharedLibrary library);
  std::string start();  // why not, or ""

  SharedLibrary library_;
  std::string missing_;
  int version_ = 0;
};

}  // namespace retrace
