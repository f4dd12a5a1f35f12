#include "retrace/monitor/gnuplot.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <filesystem>

#include "retrace/base/file.h"

extern char** environ;

namespace retrace {
namespace {

// A file of its own in the system's folder for such, removed at the end.
class TemporaryFile {
 public:
  explicit TemporaryFile(const char* suffix) {
    path_ = (std::filesystem::temp_directory_path() / "retrace-XXXXXX").string() + suffix;
    file_ =
        FileDescriptor(mkostemps(path_.data(), static_cast<int>(std::char_traits<char>::length(suffix)), O_CLOEXEC));
    if (file_.get() < 0) throw write_failed(path_, errno);
  }
  ~TemporaryFile() { unlink(path_.c_str()); }
  TemporaryFile(const TemporaryFile&) = delete;
  TemporaryFile& operator=(const TemporaryFile&) = delete;
  const std::string& path() const { return path_; }
  int descriptor() const { return file_.get(); }

 private:
  std::string path_;
  FileDescriptor file_;
};

// Its exit status, or -1 if it cannot be started. Both outputs go to the descriptor.
int run(const std::string& script, int output) {
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_addopen(&actions, 0, "/dev/null", O_RDONLY, 0);
  posix_spawn_file_actions_adddup2(&actions, output, 1);
  posix_spawn_file_actions_adddup2(&actions, output, 2);
  std::string program = "gnuplot", argument = script;
  char* arguments[] = {program.data(), argument.data(), nullptr};
  pid_t child = 0;
  const int failure = posix_spawnp(&child, program.c_str(), &actions, nullptr, arguments, environ);
  posix_spawn_file_actions_destroy(&actions);
  if (failure != 0) return -1;
  int status = 0;
  while (waitpid(child, &status, 0) < 0 && errno == EINTR) {}
  return WIFEXITED(status) ? WEXITSTATUS(status) : 1;
}

std::string first_line(const std::string& path) {
  const std::string text = read_file(path, "messages", 1 << 20);
  const size_t begin = text.find_first_not_of("\n "), end = text.find('\n', begin);
  return begin == std::string::npos ? "" : printable(text.substr(begin, end - begin));
}

}  // namespace

std::string run_gnuplot(std::string_view script) {
  const TemporaryFile commands(".gnuplot"), messages(".txt");
  if (!write_all(commands.descriptor(), script)) throw write_failed(commands.path(), errno);
  const int status = run(commands.path(), messages.descriptor());
  if (status == 0) return "";
  if (status < 0 || status == 127) return "gnuplot is not installed (package gnuplot-nox)";
  return fmt::format("gnuplot failed: {}", first_line(messages.path()));
}

std::string gnuplot_string(std::string_view text) {
  std::string quoted = "'";
  for (char c : text) {
    if (c == '\'') quoted += '\'';
    quoted += static_cast<unsigned char>(c) < 0x20 ? ' ' : c;
  }
  return quoted + "'";
}

}  // namespace retrace
