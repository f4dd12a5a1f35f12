#include "retrace/train/metrics_log.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>

namespace retrace {
namespace {
constexpr uint64_t kMaxLog = 1'000'000'000;

bool ends_torn(int descriptor) {
  struct stat status{};
  if (::fstat(descriptor, &status) != 0 || status.st_size == 0) return false;
  std::byte last[1] = {};
  return read_exactly(descriptor, last, static_cast<uint64_t>(status.st_size) - 1) && last[0] != std::byte{'\n'};
}
}  // namespace

MetricsLog::MetricsLog(std::filesystem::path path)
    : path_(std::move(path)), file_(::open(path_.c_str(), O_RDWR | O_CREAT | O_APPEND | O_CLOEXEC | O_NOFOLLOW, 0666)) {
  if (file_.get() < 0) throw write_failed(path_, errno);
  if (ends_torn(file_.get()) && !write_all(file_.get(), "\n")) throw write_failed(path_, errno);
}

void MetricsLog::append(std::string_view line) {
  std::string text(line);
  text += '\n';
  if (!write_all(file_.get(), text)) throw write_failed(path_, errno);
}

void MetricsLog::sync() {
  if (::fdatasync(file_.get()) != 0) throw write_failed(path_, errno);
}

std::vector<std::string> read_log_lines(const std::filesystem::path& path) {
  const std::string text = read_file(path, "log", kMaxLog);
  std::vector<std::string> lines;
  for (size_t begin = 0, end; (end = text.find('\n', begin)) != std::string::npos; begin = end + 1)
    lines.push_back(text.substr(begin, end - begin));
  return lines;
}

void cut_log(const std::filesystem::path& path, const std::function<bool(const std::string& line)>& ends) {
  std::error_code failure;
  if (!std::filesystem::exists(path, failure)) return;
  uint64_t size = 0;
  for (const auto& line : read_log_lines(path)) {
    if (ends(line)) break;
    size += line.size() + 1;
  }
  if (::truncate(path.c_str(), static_cast<off_t>(size)) != 0) throw write_failed(path, errno);
}

}  // namespace retrace
