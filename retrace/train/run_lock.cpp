#include "retrace/train/run_lock.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/file.h>
#include <unistd.h>

#include <cerrno>
#include <chrono>
#include <string>

#include "retrace/base/warning.h"

namespace retrace {
namespace fs = std::filesystem;

namespace {

// The first line of the lock of a folder, "" if it has none.
std::string owner_of(const fs::path& path) {
  try {
    const std::string text = read_file_start(path / kRunLock, "lock", 400);
    return printable(text.substr(0, text.find('\n')));
  } catch (const Error&) {
    return "";
  }
}

Error in_use(const fs::path& path, RunUse use) {
  return Error(ErrorKind::usage, 521,
               fmt::format("run folder \"{}\" is used by another process", printable(path.string())))
      .got(owner_of(path))
      .help(use == RunUse::begin ? "wait for it, or choose another folder with --out"
                                 : "wait until it has ended, or end it with SIGTERM: it leaves a checkpoint");
}

int try_lock(int descriptor, int how) {
  int result = 0;
  do result = ::flock(descriptor, how | LOCK_NB);
  while (result != 0 && errno == EINTR);
  return result == 0 ? 0 : errno;
}

std::string own_name() {
  char host[256] = {};
  if (::gethostname(host, sizeof host - 1) != 0) host[0] = '\0';
  const auto now = std::chrono::time_point_cast<std::chrono::seconds>(std::chrono::system_clock::now());
  const std::chrono::sys_days day = std::chrono::floor<std::chrono::days>(now);
  const std::chrono::year_month_day date(day);
  const std::chrono::hh_mm_ss time(now - day);
  return fmt::format("process {} on {}, since {:04}-{:02}-{:02} {:02}:{:02}:{:02} UTC\n", ::getpid(),
                     host[0] ? host : "?", static_cast<int>(date.year()), static_cast<unsigned>(date.month()),
                     static_cast<unsigned>(date.day()), time.hours().count(), time.minutes().count(),
                     time.seconds().count());
}

}  // namespace

FileDescriptor lock_run(const fs::path& path, RunUse use) {
  FileDescriptor lock(::open((path / kRunLock).c_str(), O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0666));
  if (lock.get() < 0) throw write_failed(path / kRunLock, errno);
  const int failure = try_lock(lock.get(), LOCK_EX);
  if (failure == EWOULDBLOCK) throw in_use(path, use);
  if (failure != 0)
    warn(fmt::format("run folder \"{}\" cannot be locked ({}): nothing keeps another process out",
                     printable(path.string()), system_reason(failure)));
  if (::ftruncate(lock.get(), 0) != 0 || !write_all(lock.get(), own_name())) {
    const int reason = errno;
    ::unlink((path / kRunLock).c_str());
    throw write_failed(path / kRunLock, reason);
  }
  return lock;
}

void check_not_locked(const fs::path& path, RunUse use) {
  const FileDescriptor lock(::open((path / kRunLock).c_str(), O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK));
  if (lock.get() >= 0 && try_lock(lock.get(), LOCK_SH) == EWOULDBLOCK) throw in_use(path, use);
}

}  // namespace retrace
