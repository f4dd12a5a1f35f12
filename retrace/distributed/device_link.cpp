#include "retrace/distributed/device_link.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstring>

#include "retrace/base/error.h"
#include "retrace/base/options.h"
#include "retrace/distributed/nccl.h"

namespace retrace {
namespace {

thread_local DeviceLink* linked = nullptr;

enum class Way : int { automatic, host, peer, nccl };
constexpr std::array<const char*, 4> kWays = {"auto", "host", "peer", "nccl"};

Way wanted_way() {
  const std::string text = environment(EnvironmentVariable::exchange);
  if (text.empty()) return Way::automatic;
  const auto found = std::find(kWays.begin(), kWays.end(), text);
  if (found != kWays.end()) return static_cast<Way>(found - kWays.begin());
  throw Error(ErrorKind::usage, 806, "RETRACE_EXCHANGE names no way of exchanging")
      .got(text)
      .expected("auto, host, peer or nccl");
}

// What a member says of itself.
struct Ability {
  Way wanted = Way::automatic;
  bool on_device = false;
  char process[96] = {};  // host and process
  char device[96] = {};   // host and device
  bool nccl = false;      // whether it can open NCCL
  char why_not[200] = {};
};

// NCCL for this device; null, and why not.
std::shared_ptr<const Nccl> nccl_for(const cuda::Runtime& device, std::string& why_not) {
  if (device.is_emulated() && environment(EnvironmentVariable::nccl).empty()) {
    why_not = "NCCL knows no emulated device";
    return nullptr;
  }
  return Nccl::open(why_not);
}

Ability ability_of(const Group& group, cuda::Runtime* device, cuda::Lane* lane) {
  Ability mine;
  mine.wanted = wanted_way();
  mine.on_device = lane != nullptr;
  std::array<char, 48> host{};
  gethostname(host.data(), host.size() - 1);
  const auto set = [](auto& to, const std::string& text) { text.copy(to, sizeof to - 1); };
  set(mine.process, fmt::format("{} {}", host.data(), getpid()));
  if (!lane) return mine;
  set(mine.device, fmt::format("{} {}", host.data(), lane->device()));
  if (mine.wanted == Way::nccl || (mine.wanted == Way::automatic && !group.is_local())) {
    std::string why_not;
    mine.nccl = nccl_for(*device, why_not) != nullptr;
    set(mine.why_not, why_not);
  }
  return mine;
}

void check_wanted(const std::vector<Ability>& all) {
  for (size_t r = 1; r < all.size(); ++r)
    if (all[r].wanted != all[0].wanted)
      throw Error(ErrorKind::usage, 807, "the workers differ in RETRACE_EXCHANGE")
          .got(fmt::format("worker {} has {}, worker 0 has {}", r, kWays[static_cast<size_t>(all[r].wanted)],
                           kWays[static_cast<size_t>(all[0].wanted)]));
}

// Why the workers' devices cannot exchange by NCCL; "" if they can.
std::string no_nccl(const std::vector<Ability>& all) {
  for (size_t r = 0; r < all.size(); ++r) {
    if (!all[r].nccl) return fmt::format("worker {}: {}", r, all[r].why_not);
    for (size_t before = 0; before < r; ++before)
      if (!std::strcmp(all[before].device, all[r].device))
        return fmt::format("workers {} and {} share a device", before, r);
  }
  return "";
}

// Every member sees the same list, and so chooses the same.
Way choose(const std::vector<Ability>& all) {
  check_wanted(all);
  const auto each = [&](auto test) { return std::all_of(all.begin(), all.end(), test); };
  const Way wanted = all[0].wanted;
  if (wanted == Way::host || !each([](const Ability& one) { return one.on_device; })) return Way::host;
  const bool one_process = each([&](const Ability& one) { return !std::strcmp(one.process, all[0].process); });
  if (wanted != Way::nccl && one_process) return Way::peer;
  if (wanted == Way::peer)
    throw Error(ErrorKind::usage, 800, "RETRACE_EXCHANGE=peer, and the workers are not in one process")
        .help("leave it out, or set RETRACE_EXCHANGE=host");
  const std::string why_not = no_nccl(all);
  if (why_not.empty()) return Way::nccl;
  if (wanted == Way::automatic) return Way::host;
  throw Error(ErrorKind::unavailable, 805, "RETRACE_EXCHANGE=nccl, and the workers' devices cannot exchange by NCCL")
      .got(why_not)
      .help("leave it out, or set RETRACE_EXCHANGE=host");
}

}  // namespace

std::unique_ptr<DeviceLink> DeviceLink::agree(Group& group, cuda::Runtime* device) {
  const std::shared_ptr<cuda::Lane> lane = device ? device->make_lane() : nullptr;
  const Ability mine = ability_of(group, device, lane.get());
  std::vector<Ability> all(static_cast<size_t>(group.size()));
  group.all_gather(&mine, sizeof mine, all.data(), "all_reduce");
  const Way way = choose(all);
  if (way == Way::host) return nullptr;
  std::unique_ptr<DeviceLink> link(new DeviceLink(*device, lane));
  std::string why_not;
  link->transport_ = way == Way::peer ? make_peer_transport(lane, share_peer_board(group))
                                      : make_nccl_transport(nccl_for(*device, why_not), lane, group);
  return link;
}

LinkScope::LinkScope(DeviceLink* link) : before_(linked) { linked = link; }
LinkScope::~LinkScope() { linked = before_; }
DeviceLink* LinkScope::current() { return linked; }

}  // namespace retrace
