#include "retrace/train/snapshot_copies.h"

#include <gtest/gtest.h>
#include <sys/stat.h>

#include "retrace/base/file.h"
#include "retrace/train/checkpoint.h"
#include "tests/temporary_folder.h"

namespace retrace {
namespace {
namespace fs = std::filesystem;

Tree state_with(float value) {
  Tree state;
  state["w"] = Tensor::full(value, {3});
  evaluate(state);
  return state;
}

// The folder is of one run, and nobody else's; it goes away with the copies.
TEST(SnapshotCopies, HaveAFolderOfTheirOwn) {
  const TemporaryFolder root;
  const fs::path one = copies_folder((root / "one").string()), two = copies_folder((root / "two").string());
  ASSERT_FALSE(one.empty());
  EXPECT_NE(one, two);
  EXPECT_TRUE(copies_folder("").empty());
  EXPECT_EQ(one, copies_folder((root / "one").string()));
  struct stat found{};
  ASSERT_EQ(::stat(one.c_str(), &found), 0);
  EXPECT_EQ(found.st_mode & 0777, 0700u);
  fs::permissions(one, fs::perms::all);
  EXPECT_TRUE(copies_folder((root / "one").string()).empty()) << "others may write there";
  for (const auto& folder : {one, two}) {
    remove_copies(folder, 0);
    EXPECT_FALSE(fs::exists(folder));
  }
}

// The newest three stay, whole; other files are none.
TEST(SnapshotCopies, KeepTheNewest) {
  const TemporaryFolder root;
  {
    SnapshotCopies copies(root.path());
    for (int i = 1; i <= 6; ++i) copies.keep(2 * i, state_with(static_cast<float>(i)), {{"seed", "1"}});
  }
  EXPECT_EQ(copies_in(root.path()), (std::vector<int64_t>{12, 10, 8}));
  const std::string bytes = read_checkpoint(copy_path(root.path(), 10));
  EXPECT_EQ(parse_safetensors(std::as_bytes(std::span(bytes)), "copy").tensors[0].bytes,
            checkpoint_content(state_with(5), {}).tensors[0].bytes);
  for (const char* name :
       {"snapshot-.safetensors", "snapshot-7.partial", "snapshot-7x.safetensors", "step-9.safetensors"})
    write_file_whole(root / name, "");
  EXPECT_EQ(copies_in(root.path()), (std::vector<int64_t>{12, 10, 8}));
  remove_copies(root.path(), 10);
  EXPECT_EQ(copies_in(root.path()), (std::vector<int64_t>{10, 8}));
}

// A host without memory left loses copies, and says so once.
TEST(SnapshotCopies, GoOnWithoutACopy) {
  const TemporaryFolder root;
  static int warnings = 0;
  set_warning_handler([](const std::string&) { ++warnings; });
  {
    SnapshotCopies copies(root / "absent");
    for (int i = 1; i <= 3; ++i) copies.keep(i, state_with(1), {});
  }
  set_warning_handler(nullptr);
  EXPECT_EQ(warnings, 1);
}

// Threads are on one host, and one worker is alone.
TEST(SnapshotCopies, NeedASecondHost) {
  TrainJobControl control;
  control.out = "somewhere";
  EXPECT_EQ(copy_keeper(control, Worker()).worker, -1);
  Pool::local(2).spmd([&](Worker& worker) { EXPECT_EQ(copy_keeper(control, worker).worker, -1); });
}

}  // namespace
}  // namespace retrace
