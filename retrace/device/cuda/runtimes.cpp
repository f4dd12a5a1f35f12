// The CUDA devices of this process.

#include "retrace/base/options.h"
#include "retrace/device/cuda/driver/driver_runtime.h"
#include "retrace/device/cuda/runtime.h"

namespace retrace::cuda {
namespace {

// The runtimes that the emulation offers; null if the program does not link it.
MakeRuntime& offered() {
  static MakeRuntime make = nullptr;
  return make;
}

// The number of emulated devices that are asked for in place of real ones.
int emulated_devices() {
  const std::string text = environment(EnvironmentVariable::cuda_emulation);
  if (text.size() == 1 && text[0] >= '2' && text[0] <= '8') return text[0] - '0';
  return text != "auto" && environment_switch(EnvironmentVariable::cuda_emulation, false) ? 1 : 0;
}

struct Found {
  std::vector<std::unique_ptr<Runtime>> runtimes;
  std::string why_not;

  Found() {
    const bool spare = environment(EnvironmentVariable::cuda_emulation) == "auto";
    const int instead = emulated_devices();
    if (instead == 0) {
      runtimes = driver_runtimes(why_not);
      if (spare && runtimes.empty() && offered()) runtimes.push_back(offered()());
    } else if (offered()) {
      for (int i = 0; i < instead; ++i) runtimes.push_back(offered()());
    } else {
      why_not = "RETRACE_CUDA_EMULATION is on, and this program has no emulated device: only tests and examples do";
    }
  }
};

// Never destroyed: tensors may outlive every static. What a device holds is freed with the process.
const Found& found() {
  static const Found& all = *new Found;
  return all;
}

}  // namespace

std::unique_ptr<Graph> Runtime::make_line(std::span<const Launch> launches) {
  Edges edges(launches.size());
  for (size_t i = 1; i < edges.size(); ++i) edges[i] = {i - 1};
  return make_graph(launches, edges);
}

std::span<const std::unique_ptr<Runtime>> runtimes() { return found().runtimes; }
std::string why_no_runtime() { return found().runtimes.empty() ? found().why_not : std::string(); }

bool offer_emulation(MakeRuntime make) {
  offered() = make;
  return true;
}

}  // namespace retrace::cuda
