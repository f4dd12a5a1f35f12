#include "retrace/train/snapshot_copies.h"

#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <charconv>

#include "retrace/base/folder.h"
#include "retrace/base/hash.h"
#include "retrace/base/warning.h"
#include "retrace/distributed/group.h"
#include "retrace/train/checkpoint.h"
#include "retrace/train/checkpoint_files.h"

namespace retrace {
namespace fs = std::filesystem;

namespace {

constexpr std::string_view kCopyPrefix = "snapshot-", kCopySuffix = ".safetensors";
constexpr size_t kCopies = 3;

std::string host_name() {
  char host[256] = {};
  return ::gethostname(host, sizeof host - 1) == 0 ? host : "";
}

// Makes the folder if need be. Whether it is this user's alone: others may write where it is.
bool make_private(const fs::path& folder) {
  struct stat found{};
  ::mkdir(folder.c_str(), 0700);
  return ::lstat(folder.c_str(), &found) == 0 && S_ISDIR(found.st_mode) && found.st_uid == ::geteuid() &&
         (found.st_mode & 0077) == 0;
}

uint64_t hash_of(const std::string& text) {
  uint64_t hash = text.size();
  for (const char c : text) hash = mix64(hash + static_cast<unsigned char>(c));
  return hash;
}

}  // namespace

CopyKeeper copy_keeper(const TrainJobControl& control, const Worker& worker) {
  CopyKeeper keeper;
  if (!control.write_run || worker.size() == 1 || worker.group().is_local()) return keeper;
  const fs::path& folder = control.resume.empty() ? control.out : control.resume;
  std::error_code ignored;
  const std::string run = folder.empty() ? "" : fs::absolute(folder, ignored).lexically_normal().string();
  const auto hosts = worker.all_gather(host_name());
  keeper.run = worker.broadcast(run);
  const auto other = std::find_if(hosts.begin(), hosts.end(), [&](const auto& host) { return host != hosts[0]; });
  if (!keeper.run.empty() && other != hosts.end()) keeper.worker = static_cast<int>(other - hosts.begin());
  return keeper;
}

fs::path copies_folder(const std::string& run) {
  const fs::path all = fmt::format("/dev/shm/retrace-{}", ::geteuid());
  const fs::path folder = all / fmt::format("{:016x}", hash_of(run));
  return !run.empty() && make_private(all) && make_private(folder) ? folder : fs::path();
}

fs::path copy_path(const fs::path& folder, int64_t iterations) {
  return folder / fmt::format("{}{}{}", kCopyPrefix, iterations, kCopySuffix);
}

std::vector<int64_t> copies_in(const fs::path& folder) {
  std::vector<int64_t> copies;
  std::error_code failure;
  for (const auto& name : folder_names(folder, failure)) {
    int64_t iterations = 0;
    if (!name.starts_with(kCopyPrefix)) continue;
    std::from_chars(name.data() + kCopyPrefix.size(), name.data() + name.size(), iterations);
    if (iterations > 0 && folder / name == copy_path(folder, iterations)) copies.push_back(iterations);
  }
  std::sort(copies.rbegin(), copies.rend());
  return copies;
}

void remove_copies(const fs::path& folder, int64_t iterations) {
  if (folder.empty()) return;
  std::error_code ignored;
  for (const int64_t copy : copies_in(folder))
    if (copy > iterations) fs::remove(copy_path(folder, copy), ignored);
  if (iterations > 0) return;
  remove_unfinished_files(folder);
  fs::remove(folder, ignored);
  fs::remove(folder.parent_path(), ignored);
}

SnapshotCopies::SnapshotCopies(fs::path folder) : folder_(std::move(folder)), background_([this] { write(); }) {}

void SnapshotCopies::keep(int64_t iterations, Tree state, const NamedValues& owner) {
  background_.wait();
  iterations_ = iterations, state_ = std::move(state), owner_ = owner;
  if (!background_.ask()) write();
}

void SnapshotCopies::write() {
  try {
    write_checkpoint(copy_path(folder_, iterations_), checkpoint_content(state_, owner_), Lasting::process);
    const auto copies = copies_in(folder_);
    std::error_code ignored;
    for (size_t i = kCopies; i < copies.size(); ++i) fs::remove(copy_path(folder_, copies[i]), ignored);
  } catch (const std::exception& error) {
    if (!std::exchange(warned_, true))
      warn(fmt::format("the training goes on without a copy of the snapshot of iteration {}\n{}", iterations_,
                       error.what()));
  }
}

}  // namespace retrace
