#include "retrace/distributed/mpi_library.h"

#include <dlfcn.h>
#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <condition_variable>
#include <filesystem>
#include <memory>
#include <mutex>
#include <system_error>
#include <thread>
#include <utility>

#include "retrace/base/error.h"
#include "retrace/base/options.h"
#include "retrace/base/warning.h"
#include "retrace/distributed/launcher.h"
#include "retrace/distributed/patience.h"

namespace retrace {
namespace {

constexpr const char* kName = "libretrace_mpi.so";

// The state of MPI in this process, which begins once.
struct Start {
  std::mutex mutex;
  std::condition_variable changed;
  bool begun = false, done = false;
  int error = 0;
  RetraceMpiPlace place = {};
};

Error no_mpi(std::string reason) {
  return Error(ErrorKind::unavailable, 613, "MPI is not available to this program")
      .got(std::move(reason))
      .help(fmt::format("install Open MPI with its headers (Debian: libopenmpi-dev and openmpi-bin) and build retrace "
                        "again, or set RETRACE_MPI_MODULE to the path of {}",
                        kName));
}

std::string module_path() {
  if (auto path = environment(EnvironmentVariable::mpi_module); !path.empty()) return path;
  std::error_code ignored;
  const auto folder = std::filesystem::read_symlink("/proc/self/exe", ignored).parent_path();
  if (!folder.empty())
    for (const auto& place : {folder, folder.parent_path() / "lib" / "retrace", folder.parent_path()})
      if (std::filesystem::exists(place / kName, ignored)) return place / kName;
  return kName;
}

const RetraceMpi* load() {
  const std::string path = module_path();
  // Global, since plug-ins of MPI may look for its symbols there. Never closed: MPI leaves threads and handlers behind.
  void* const library = dlopen(path.c_str(), RTLD_NOW | RTLD_GLOBAL);
  if (!library) throw no_mpi(dlerror());
  const auto entry = reinterpret_cast<decltype(&retrace_mpi)>(dlsym(library, "retrace_mpi"));
  if (!entry) throw no_mpi(fmt::format("{} is another library", path));
  const RetraceMpi* const mpi = entry(kRetraceMpiVersion);
  if (!mpi) throw no_mpi(fmt::format("{} belongs to another version of retrace", path));
  return mpi;
}

}  // namespace

MpiLibrary::MpiLibrary(double seconds) : mpi_(load()) {
  check(initialise(seconds));
  if (const Launcher launcher = detect_launcher(); launcher.present && launcher.size != place_.size)
    throw no_mpi(fmt::format("{} started {} ranks, and the module's MPI knows of {}: they are not of one installation",
                             launcher.name, launcher.size, place_.size));
  if (!place_.any_thread) throw no_mpi("this MPI serves one thread only, or was initialised so (MPI_THREAD_MULTIPLE)");
}

// MPI waits for the other ranks without an end, so that a thread does that which can be left behind.
int MpiLibrary::initialise(double patience) {
  const double seconds = std::max(patience, kLeastSecondsToBegin);
  static const auto start = std::make_shared<Start>();
  std::unique_lock lock(start->mutex);
  if (!std::exchange(start->begun, true)) {
    const auto begin_mpi = [start = start, mpi = mpi_] {
      RetraceMpiPlace place;
      const int error = mpi->initialise(&place);
      const std::lock_guard done_lock(start->mutex);
      start->place = place, start->error = error, start->done = true;
      start->changed.notify_all();
    };
    try {
      std::thread(begin_mpi).detach();
    } catch (const std::system_error&) {  // no thread to leave behind: it waits here
      lock.unlock(), begin_mpi(), lock.lock();
    }
  }
  const auto begin = std::chrono::steady_clock::now();
  const auto wait = [&](double until) {
    return start->changed.wait_until(lock, begin + std::chrono::duration<double>(until), [&] { return start->done; });
  };
  const Launcher launcher = detect_launcher();
  if (const double silence = Patience(seconds).silence(); !wait(silence)) {
    if (launcher.rank == 0)
      warn(fmt::format("rank 0 has waited for the other ranks to begin for {:.2g} seconds", silence));
    if (!wait(seconds))
      throw Error(ErrorKind::lost, 607,
                  fmt::format("not all {} ranks began within {:g} seconds", launcher.size, seconds))
          .got("a rank that has not come to MPI: it has ended, hangs, or runs another program")
          .help(fmt::format(
              "start all ranks with one command: {} PROGRAM ARGUMENTS; ranks that begin later need a longer "
              "time: PoolOptions::timeout, of retrace train: --timeout SECONDS",
              launcher.name == "srun" ? "srun --mpi=pmix" : "mpirun"));
  }
  place_ = start->place;
  return start->error;
}

MpiLibrary::~MpiLibrary() {
  if (!left_) mpi_->finalise();
}

void MpiLibrary::check(int error) const {
  if (!error) return;
  char text[512];
  mpi_->describe(error, text, sizeof text);
  throw Error(ErrorKind::lost, 614, "MPI cannot move messages").got(text);
}

RetraceMpiRequest MpiLibrary::send(const void* data, size_t bytes, int peer, int tag) const {
  RetraceMpiRequest request;
  check(mpi_->send(data, bytes, peer, tag, &request));
  return request;
}

RetraceMpiRequest MpiLibrary::receive(void* data, size_t bytes, int peer, int tag) const {
  RetraceMpiRequest request;
  check(mpi_->receive(data, bytes, peer, tag, &request));
  return request;
}

bool MpiLibrary::test(RetraceMpiRequest& request, size_t* bytes) const {
  int done = 0;
  size_t size = 0;
  check(mpi_->test(&request, &done, &size));
  if (bytes) *bytes = size;
  return done != 0;
}

void MpiLibrary::cancel(RetraceMpiRequest& request) const { check(mpi_->cancel(&request)); }

bool MpiLibrary::probe(int tag, int* peer, size_t* bytes) const {
  int found = 0;
  check(mpi_->probe(tag, &found, peer, bytes));
  return found != 0;
}

void MpiLibrary::abort(int code) const { mpi_->abort(code); }

}  // namespace retrace
