#include "retrace/distributed/profile.h"

#include <fmt/format.h>
#include <unistd.h>

#include <toml++/toml.h>
#include <algorithm>
#include <cerrno>
#include <charconv>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string_view>

#include "retrace/base/file.h"
#include "retrace/base/joined.h"
#include "retrace/base/options.h"
#include "retrace/device/cpu/threads.h"

namespace retrace {
namespace {

constexpr uint64_t kFileLimit = uint64_t{1} << 20;
constexpr int kMostWorkers = 100000;
constexpr const char* kEngines[] = {"local", "mpi", "slurm"};

// "node1:4" has four slots, "node1" one.
int slots_of(const std::string& host) {
  const size_t colon = host.rfind(':');
  int slots = 1;
  if (colon != std::string::npos) std::from_chars(host.data() + colon + 1, host.data() + host.size(), slots);
  return std::max(slots, 1);
}

// Whether an entry of a profile means the host of that name: one of the two may have a domain more.
bool is_host(const std::string& entry, const std::string& name) {
  const std::string host = entry.substr(0, entry.rfind(':'));
  return host == name || host.starts_with(name + ".") || name.starts_with(host + ".");
}

// Reads the file; errors have its name and the line.
class ProfilesReader {
 public:
  explicit ProfilesReader(std::string file)
      : file_(std::move(file)), text_(read_file(file_, "file of cluster profiles", kFileLimit)) {
    try {
      table_ = toml::parse(text_);
    } catch (const toml::parse_error& error) {
      throw wrong(error.source().begin, "the file of cluster profiles is no valid TOML")
          .got(std::string(error.description()));
    }
  }

  ClusterProfile profile(std::string name) const {
    if (name.empty()) name = table_["default"].value_or(std::string());
    std::vector<std::string> known;
    for (const auto& [key, node] : table_)
      if (node.is_table()) known.emplace_back(key.str());
    if (name.empty() && known.size() == 1) name = known[0];
    const auto* const section = table_[name].as_table();
    if (!section) throw unknown(name, known);
    return read(name, *section);
  }

 private:
  Error wrong(const toml::source_position& at, const std::string& what) const {
    return Error(ErrorKind::usage, 662, what).where(fmt::format("{}:{}", printable(file_), at.line));
  }
  Error unknown(const std::string& name, const std::vector<std::string>& known) const {
    const std::string near = nearest(name, known);
    return Error(ErrorKind::usage, 662,
                 name.empty() ? "no cluster profile is the default one"
                              : fmt::format("there is no cluster profile \"{}\"", printable(name)))
        .where(printable(file_))
        .expected(fmt::format("one of {}", printable(joined(known, ", "))))
        .help(near.empty() ? "default = \"NAME\", at the top of the file, names the one that is meant"
                           : fmt::format("did you mean \"{}\"?", printable(near)));
  }

  ClusterProfile read(const std::string& name, const toml::table& section) const {
    ClusterProfile profile{.name = name, .engine = "local"};
    for (const auto& [key, node] : section) {
      if (key == "engine" && node.is_string())
        profile.engine = node.as_string()->get();
      else if (key == "workers" && node.is_integer())
        profile.workers = count(key, node);
      else if (key == "launcher" && node.is_string())
        profile.launcher = node.as_string()->get();
      else if (key == "submit" && node.is_string())
        profile.submit = (std::filesystem::path(file_).parent_path() / node.as_string()->get()).string();
      else if (key == "hosts" || key == "options")
        (key == "hosts" ? profile.hosts : profile.options) = texts(key, node);
      else
        throw wrong(key.source().begin,
                    fmt::format("a cluster profile has no \"{}\" of this kind", printable(key.str())))
            .expected(
                "engine = \"NAME\", workers = N, launcher = \"PROGRAM\", hosts = [\"NAME\"], options = [\"TEXT\"], "
                "submit = \"FILE\"");
    }
    if (std::find(std::begin(kEngines), std::end(kEngines), profile.engine) == std::end(kEngines))
      throw wrong(section.source().begin, fmt::format("there is no engine \"{}\"", printable(profile.engine)))
          .expected(fmt::format("one of {}", joined(kEngines, ", ")));
    if (!profile.hosts.empty() && profile.engine != "mpi")
      throw wrong(section.source().begin, "hosts are for the engine \"mpi\" alone");
    if (!profile.submit.empty() && profile.engine != "slurm")
      throw wrong(section.source().begin, "submit is for the engine \"slurm\" alone");
    return profile;
  }
  int count(const toml::key& key, const toml::node& node) const {
    const int64_t value = node.as_integer()->get();
    if (value < 1 || value > kMostWorkers)
      throw wrong(key.source().begin, fmt::format("a cluster with {} workers is not possible", value))
          .expected(fmt::format("1 to {}", kMostWorkers));
    return static_cast<int>(value);
  }
  std::vector<std::string> texts(const toml::key& key, const toml::node& node) const {
    std::vector<std::string> found;
    const auto* const list = node.as_array();
    if (list)
      for (const auto& one : *list)
        if (const auto* text = one.as_string()) found.push_back(text->get());
    if (!list || found.size() != list->size())
      throw wrong(key.source().begin, fmt::format("{} is no list of texts", key.str()));
    return found;
  }

  std::string file_, text_;
  toml::table table_;
};

}  // namespace

std::vector<std::string> own_command() {
  std::error_code failure;
  const auto program = std::filesystem::read_symlink("/proc/self/exe", failure);
  std::ifstream file("/proc/self/cmdline", std::ios::binary);  // whose size is said to be 0
  const std::string text{std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
  std::vector<std::string> command;
  for (size_t begin = 0; begin < text.size();) {
    const size_t end = std::min(text.find('\0', begin), text.size());
    command.push_back(text.substr(begin, end - begin));
    begin = end + 1;
  }
  if (failure || command.empty())
    throw Error(ErrorKind::unavailable, 663, "the program of this process is not known: /proc cannot be read");
  command[0] = program.string();
  return command;
}

std::string profiles_file() {
  if (auto file = environment(EnvironmentVariable::profiles); !file.empty()) return file;
  const std::string config = foreign_environment("XDG_CONFIG_HOME"), home = foreign_environment("HOME");
  if (config.starts_with('/')) return config + "/retrace/profiles.toml";
  return home.empty() ? "" : home + "/.config/retrace/profiles.toml";
}

ClusterProfile cluster_profile(const std::string& name) {
  const std::string file = profiles_file();
  std::error_code ignored;
  const bool given = !environment(EnvironmentVariable::profiles).empty();
  const bool built_in = name.empty() || name == "local";
  if (!given && built_in && (file.empty() || !std::filesystem::exists(file, ignored)))
    return {.name = "local", .engine = "local", .workers = thread_count()};
  return without_hosts(ProfilesReader(file).profile(name), environment_list(EnvironmentVariable::without_hosts));
}

int workers_of(const ClusterProfile& profile, int n) {
  if (!environment_list(EnvironmentVariable::without_hosts).empty()) n = std::min(n, profile.workers);
  if (n < 0 || n > profile.workers)
    throw Error(ErrorKind::usage, 664,
                fmt::format("cluster profile \"{}\" has no pool of {} workers", printable(profile.name), n))
        .expected(fmt::format("1 to {}, or 0 for all", profile.workers));
  return n == 0 ? profile.workers : n;
}

ClusterProfile without_hosts(ClusterProfile profile, std::span<const std::string> lost) {
  const auto slots = [&] {
    int sum = 0;
    for (const auto& host : profile.hosts) sum += slots_of(host);
    return sum;
  };
  const int before = slots();
  const auto gone = std::erase_if(profile.hosts, [&](const std::string& host) {
    return std::any_of(lost.begin(), lost.end(), [&](const auto& name) { return is_host(host, name); });
  });
  if (gone == 0) return profile;
  if (profile.hosts.empty())
    throw Error(ErrorKind::unavailable, 716,
                fmt::format("no host of cluster profile \"{}\" is left", printable(profile.name)))
        .got(printable(fmt::format("lost: {}", joined(lost, ", "))))
        .help("look at the hosts and the network between them: retrace cluster check");
  const int64_t workers = profile.workers;
  profile.workers = static_cast<int>(
      std::max<int64_t>(1, workers <= before ? std::min<int64_t>(workers, slots()) : workers * slots() / before));
  return profile;
}

std::vector<std::string> launch_command(const ClusterProfile& profile, int n, std::span<const std::string> program) {
  const bool slurm = profile.engine == "slurm";
  std::vector<std::string> command{!profile.launcher.empty() ? profile.launcher : slurm ? "srun" : "mpirun"};
  if (slurm) command.emplace_back("--mpi=pmix");
  command.insert(command.end(), {"-n", fmt::format("{}", n)});
  for (const auto variable : {EnvironmentVariable::without_hosts, EnvironmentVariable::supervised})
    if (!slurm && !environment(variable).empty()) command.insert(command.end(), {"-x", std::string(name_of(variable))});
  if (!profile.hosts.empty()) command.insert(command.end(), {"--host", joined(profile.hosts, ",")});
  command.insert(command.end(), profile.options.begin(), profile.options.end());
  command.insert(command.end(), program.begin(), program.end());
  return command;
}

void launch_again(const ClusterProfile& profile, int n) {
  const auto command = launch_command(profile, n, own_command());
  const auto failed = [&](std::string why) {
    return Error(ErrorKind::unavailable, 663,
                 fmt::format("the workers of cluster profile \"{}\" cannot be started", printable(profile.name)))
        .got(std::move(why));
  };
  if (!environment(EnvironmentVariable::launched).empty())
    throw failed(fmt::format("\"{}\" started this process, which is no rank of Open MPI or of Slurm with PMIx",
                             printable(command[0])))
        .help("launcher, in the profile, must be mpirun of Open MPI, or srun");
  std::vector<char*> arguments;
  for (const auto& argument : command) arguments.push_back(const_cast<char*>(argument.c_str()));
  arguments.push_back(nullptr);
  std::fflush(nullptr);
  ::setenv("RETRACE_LAUNCHED", profile.name.c_str(), 1);
  ::execvp(arguments[0], arguments.data());
  const int reason = errno;
  ::unsetenv("RETRACE_LAUNCHED");
  throw failed(fmt::format("{}: {}", printable(command[0]), system_reason(reason)))
      .help(profile.engine == "slurm" ? "it comes with Slurm (Debian: slurm-client)"
                                      : "it comes with Open MPI (Debian: openmpi-bin)");
}

}  // namespace retrace
