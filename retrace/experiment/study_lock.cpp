#include "retrace/experiment/study_lock.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/file.h>
#include <unistd.h>

#include <cerrno>

#include "retrace/base/warning.h"
#include "retrace/experiment/study.h"

namespace retrace {
namespace fs = std::filesystem;

namespace {

int try_study_lock(int descriptor) {
  int result = 0;
  do result = ::flock(descriptor, LOCK_EX | LOCK_NB);
  while (result != 0 && errno == EINTR);
  return result == 0 ? 0 : errno;
}

}  // namespace

FileDescriptor lock_study(const fs::path& folder) {
  const fs::path path = folder / ".lock";
  FileDescriptor lock(::open(path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0666));
  if (lock.get() < 0) throw write_failed(path, errno);
  const int failure = try_study_lock(lock.get());
  if (failure == EWOULDBLOCK)
    throw Error(ErrorKind::usage, 750,
                fmt::format("study \"{}\" is written by another process", printable(folder.string())))
        .help("wait until it has ended, or end it with Ctrl-C: the study goes on later");
  if (failure != 0)
    warn(fmt::format("study \"{}\" cannot be locked ({}): nothing keeps another writer out", printable(folder.string()),
                     system_reason(failure)));
  return lock;
}

bool is_written(const fs::path& folder) {
  const FileDescriptor lock(::open((folder / ".lock").c_str(), O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK));
  return lock.get() >= 0 && try_study_lock(lock.get()) == EWOULDBLOCK;
}

}  // namespace retrace
