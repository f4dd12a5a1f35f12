#include "retrace/distributed/mpi_library.h"

#include <dlfcn.h>
#include <fmt/format.h>

#include <filesystem>

#include "retrace/base/error.h"
#include "retrace/base/options.h"
#include "retrace/distributed/launcher.h"

namespace retrace {
namespace {

constexpr const char* kName = "libretrace_mpi.so";

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

MpiLibrary::MpiLibrary() : mpi_(load()) {
  check(mpi_->initialise(&place_));
  if (const Launcher launcher = detect_launcher(); launcher.present && launcher.size != place_.size)
    throw no_mpi(fmt::format("{} started {} ranks, and the module's MPI knows of {}: they are not of one installation",
                             launcher.name, launcher.size, place_.size));
  if (!place_.any_thread) throw no_mpi("this MPI serves one thread only, or was initialised so (MPI_THREAD_MULTIPLE)");
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
