#include "retrace/monitor/program.h"

#include <fcntl.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <filesystem>

extern char** environ;

namespace retrace {
namespace {

// Its exit status, or -1 if it cannot be started. Both outputs go to the descriptor.
int run(std::vector<std::string>& words, int output) {
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_addopen(&actions, 0, "/dev/null", O_RDONLY, 0);
  posix_spawn_file_actions_adddup2(&actions, output, 1);
  posix_spawn_file_actions_adddup2(&actions, output, 2);
  std::vector<char*> arguments;
  for (auto& word : words) arguments.push_back(word.data());
  arguments.push_back(nullptr);
  pid_t child = 0;
  const int failure = posix_spawnp(&child, arguments[0], &actions, nullptr, arguments.data(), environ);
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

TemporaryFile::TemporaryFile(const char* suffix) {
  path_ = (std::filesystem::temp_directory_path() / "retrace-XXXXXX").string() + suffix;
  file_ = FileDescriptor(mkostemps(path_.data(), static_cast<int>(std::char_traits<char>::length(suffix)), O_CLOEXEC));
  if (file_.get() < 0) throw write_failed(path_, errno);
}

TemporaryFile::~TemporaryFile() { unlink(path_.c_str()); }

ProgramEnd run_program(std::vector<std::string> words) {
  const TemporaryFile messages(".txt");
  const int status = run(words, messages.descriptor());
  if (status < 0 || status == 127) return {.installed = false, .status = status, .message = {}};
  return {.status = status, .message = first_line(messages.path())};
}

}  // namespace retrace
