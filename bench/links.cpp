// Links between network namespaces, for bench/exchange.py: links DELAY_US LOSS RATE_MBIT BUFFER_KB NAMESPACE...
//
// Opens a device `link0` in each namespace, where the caller sets the hardware addresses 02:00:00:00:00:01, ...:02 and
// so on, and the rate at which a host sends. Between them stands a switch of this program: a frame that has left its
// sender arrives after the delay, goes through the receiver's port at its rate, and is dropped if the port's buffer is
// full or, with the probability LOSS, on its way. Prints "ready"; ends with its input, and prints the frames that it
// passed on and those that it dropped for each reason. Needs root. It does what netem does, which many kernels lack.

#include <fmt/format.h>

#include <chrono>
#include <cstdlib>
#include <cstring>
#include <deque>
#include <random>
#include <string>
#include <vector>

#include <fcntl.h>
#include <linux/if_tun.h>
#include <net/if.h>
#include <poll.h>
#include <sched.h>
#include <sys/ioctl.h>
#include <unistd.h>

namespace {

using Clock = std::chrono::steady_clock;
using Seconds = std::chrono::duration<double>;

constexpr size_t kLongestFrame = 65536;

[[noreturn]] void give_up(const std::string& what) {
  fmt::print(stderr, "links: {}: {}\n", what, std::strerror(errno));
  std::exit(1);
}

Clock::duration seconds(double value) { return std::chrono::duration_cast<Clock::duration>(Seconds(value)); }

// The device in a namespace. This thread then stays in that namespace.
int open_device(const std::string& name) {
  const int place = open(("/run/netns/" + name).c_str(), O_RDONLY | O_CLOEXEC);
  if (place < 0 || setns(place, CLONE_NEWNET) != 0) give_up(name);
  close(place);
  const int device = open("/dev/net/tun", O_RDWR | O_NONBLOCK | O_CLOEXEC);
  ifreq request{};
  request.ifr_flags = IFF_TAP | IFF_NO_PI;
  std::strcpy(request.ifr_name, "link0");
  if (device < 0 || ioctl(device, TUNSETIFF, &request) != 0) give_up("/dev/net/tun");
  return device;
}

struct Frame {
  Clock::time_point due;
  std::string bytes;
};

// A host's port of the switch. What is due leaves in its order.
struct Port {
  int device = -1;
  Clock::time_point free{};  // when the last frame has gone through
  std::deque<Frame> waiting{};
};

class Switch {
 public:
  Switch(double delay, double loss, double bytes_per_second, double buffer)
      : delay_(seconds(delay)), loss_(loss), rate_(bytes_per_second), buffer_(seconds(buffer / bytes_per_second)) {}
  void add(int device) { ports_.push_back({.device = device}); }

  // Until the input ends.
  void run() {
    std::vector<pollfd> watched{{STDIN_FILENO, POLLIN, 0}};
    for (const Port& port : ports_) watched.push_back({port.device, POLLIN, 0});
    for (;;) {
      const timespec time = until_next();
      if (ppoll(watched.data(), watched.size(), &time, nullptr) < 0 && errno != EINTR) give_up("ppoll");
      if (watched[0].revents) return;
      for (size_t i = 1; i < watched.size(); ++i)
        if (watched[i].revents) take(watched[i].fd);
      deliver();
    }
  }
  std::string counts() const { return fmt::format("{} {} {}", passed_, lost_, overflowed_); }

 private:
  timespec until_next() const {
    auto next = Clock::now() + std::chrono::seconds(1);
    for (const Port& port : ports_)
      if (!port.waiting.empty()) next = std::min(next, port.waiting.front().due);
    const auto left = std::max<int64_t>(0, std::chrono::nanoseconds(next - Clock::now()).count());
    return {left / 1'000'000'000, left % 1'000'000'000};
  }

  // What a host has sent.
  void take(int device) {
    for (ssize_t bytes; (bytes = read(device, room_, sizeof room_)) > 0;) {
      const auto to = static_cast<unsigned char>(room_[5]);  // the last byte of the receiver's address; 255: all
      for (size_t i = 0; i < ports_.size(); ++i)
        if (to == i + 1 || (to == 255 && ports_[i].device != device))
          enter(ports_[i], {room_, static_cast<size_t>(bytes)});
    }
  }

  void enter(Port& port, std::string bytes) {
    if (loss_ > 0 && std::uniform_real_distribution<double>()(random_) < loss_) {
      ++lost_;
      return;
    }
    const auto arrives = Clock::now() + delay_;
    if (port.free > arrives + buffer_) {
      ++overflowed_;
      return;
    }
    port.free = std::max(port.free, arrives) + seconds(static_cast<double>(bytes.size()) / rate_);
    port.waiting.push_back({port.free, std::move(bytes)});
  }

  void deliver() {
    const auto now = Clock::now();
    for (Port& port : ports_)
      for (; !port.waiting.empty() && port.waiting.front().due <= now; port.waiting.pop_front()) {
        const std::string& bytes = port.waiting.front().bytes;
        passed_ += write(port.device, bytes.data(), bytes.size()) == static_cast<ssize_t>(bytes.size());
      }
  }

  const Clock::duration delay_;
  const double loss_, rate_;
  const Clock::duration buffer_;
  std::vector<Port> ports_;
  std::mt19937 random_{1};
  int64_t passed_ = 0, lost_ = 0, overflowed_ = 0;
  char room_[kLongestFrame];
};

}  // namespace

int main(int count, char** arguments) {
  if (count < 6) {
    fmt::print(stderr, "usage: links DELAY_US LOSS RATE_MBIT BUFFER_KB NAMESPACE...\n");
    return 2;
  }
  const auto number = [&](int i) { return std::atof(arguments[i]); };
  static Switch all(number(1) * 1e-6, number(2), number(3) * 1e6 / 8, number(4) * 1e3);
  for (int i = 5; i < count; ++i) all.add(open_device(arguments[i]));
  // Before the ranks, which use all of the processor while they wait.
  const sched_param first{.sched_priority = 1};
  if (sched_setscheduler(0, SCHED_FIFO, &first) != 0) give_up("sched_setscheduler");
  fmt::print("ready\n");
  std::fflush(stdout);
  all.run();
  fmt::print("{}\n", all.counts());
}
