#include "retrace/distributed/nccl.h"

#include <fmt/format.h>

#include "retrace/base/file.h"
#include "retrace/base/options.h"

namespace retrace {
namespace {

constexpr int kOldestNccl = 21400;

std::string nccl_version_text(int version) {
  return fmt::format("{}.{}.{}", version / 10000, version / 100 % 100, version % 100);
}

}  // namespace

std::shared_ptr<const Nccl> Nccl::open(std::string& why_not) {
  struct Opened {
    std::shared_ptr<const Nccl> nccl;
    std::string why_not;
  };
  static const Opened& opened = *[] {
    const std::string named = environment(EnvironmentVariable::nccl);
    const std::string file = named.empty() ? "libnccl.so.2" : named;
    SharedLibrary library({&file, 1});
    if (!library.open())
      return new Opened{nullptr, fmt::format("no NCCL ({}) on this machine: {}", file, printable(library.reason()))};
    const std::shared_ptr<Nccl> made(new Nccl(std::move(library)));
    std::string reason = made->start();
    return new Opened{reason.empty() ? made : nullptr, reason};
  }();
  why_not = opened.why_not;
  return opened.nccl;
}

Nccl::Nccl(SharedLibrary library) : library_(std::move(library)) {
#define RT_NCCL_FIND(symbol, ...)                                      \
  symbol = reinterpret_cast<decltype(symbol)>(library_.find(#symbol)); \
  if (!symbol && missing_.empty()) missing_ = #symbol;
  RT_NCCL_CALLS(RT_NCCL_FIND)
#undef RT_NCCL_FIND
}

std::string Nccl::start() {
  if (ncclGetVersion) ncclGetVersion(&version_);
  if (version_ < kOldestNccl)
    return fmt::format("NCCL is too old: {}, and {} or newer is needed", nccl_version_text(version_),
                       nccl_version_text(kOldestNccl));
  return missing_.empty() ? "" : fmt::format("NCCL has no {}: it is damaged", missing_);
}

}  // namespace retrace
