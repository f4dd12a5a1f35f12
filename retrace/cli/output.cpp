#include "retrace/cli/output.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <poll.h>
#include <sys/uio.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <cstdio>
#include <new>

#include "retrace/base/file.h"

namespace retrace::cli {

void guard_standard_streams() {
  for (const int stream : {STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO}) {
    if (::fcntl(stream, F_GETFD) != -1 || errno != EBADF) continue;
    // open() takes the lowest free number, which is this one; standard output stays unwritable on purpose.
    ::open("/dev/null", stream == STDERR_FILENO ? O_WRONLY : O_RDONLY);
  }
  std::signal(SIGPIPE, SIG_IGN);
  std::signal(SIGXFSZ, SIG_IGN);
}

void print(std::string_view text) {
  if (std::fflush(stdout) == 0 && write_all(STDOUT_FILENO, text)) return;
  throw Error(ErrorKind::output, 710, "standard output cannot be written: " + system_reason(errno));
}

Error beside_json(const char* what) {
  return Error(ErrorKind::usage, 706, fmt::format("--json and {} cannot both go to standard output", what))
      .help("give --out a file");
}

StreamWriter& standard_error() {
  static StreamWriter writer(STDERR_FILENO);
  return writer;
}

void complain(std::string_view text) noexcept {
  try {
    standard_error().write(std::string(text) + "\n");
  } catch (const std::bad_alloc&) {
    pollfd reader{STDERR_FILENO, POLLOUT, 0};
    iovec parts[] = {{const_cast<char*>(text.data()), text.size()}, {const_cast<char*>("\n"), 1}};
    if (::poll(&reader, 1, 100) > 0 && ::writev(STDERR_FILENO, parts, 2) < 0) return;  // nobody to tell it
  }
}

void finish_standard_error() { standard_error().wait(); }

}  // namespace retrace::cli
