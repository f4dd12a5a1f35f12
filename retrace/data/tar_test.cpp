#include "retrace/data/tar.h"

#include <gtest/gtest.h>

#include <fstream>

#include "retrace/data/gzip.h"
#include "retrace/data/tar_testing.h"
#include "tests/error_testing.h"
#include "tests/temporary_folder.h"

namespace retrace {
namespace {

TarArchive archive(const std::vector<TarTestMember>& members) { return {tar_of(members), "pets.tar"}; }

// "name=content" of each file, "name/" of each folder.
std::vector<std::string> listed(const TarArchive& archive) {
  std::vector<std::string> list;
  for (const auto& entry : archive.entries())
    list.push_back(entry.name + (entry.kind == TarEntry::Kind::folder ? "/" : "=" + archive.read(entry)));
  return list;
}

std::string refusal(const std::string& bytes) {
  return error_of([&] { return TarArchive(bytes, "pets.tar"); });
}

std::string refusal_of(const TarTestMember& member) { return refusal(tar_of({member})); }

using List = std::vector<std::string>;
const std::string kAgain = "\n  help:     fetch the archive again, or make it anew with tar";

std::string damaged(const std::string& at, const std::string& reason) {
  return "error[RT0649]: the archive \"pets.tar\" is damaged at byte " + at + ": " + reason + kAgain;
}

TEST(Tar, ListsMembersByTheBytesOfTheirNames) {
  const auto pets =
      archive({{.name = "./b/", .type = '5'}, {"./b/2", "two"}, {"a//1", std::string(513, 'x')}, {"b/10"}});
  EXPECT_EQ(listed(pets), (List{"a/1=" + std::string(513, 'x'), "b/", "b/10=", "b/2=two"}));
  EXPECT_EQ(pets.read(pets.entries()[0], 3), "xxx");
}

TEST(Tar, ReadsLongNamesOfEveryFormat) {
  const std::string folder(90, 'f'), file(60, 'n'), name = folder + "/" + file;
  const List wanted{name + "=content"};
  EXPECT_EQ(listed(archive({{.name = file, .content = "content", .prefix = folder}})), wanted);
  const TarTestMember gnu{.name = "././@LongLink", .content = name + '\0', .type = 'L'};
  EXPECT_EQ(listed(archive({gnu, {"cut", "content"}})), wanted);
  EXPECT_EQ(listed(archive({pax_path(name), {"cut", "content"}})), wanted);
  const TarTestMember global{.name = "g", .content = "9 a=bcde\n", .type = 'g'};
  EXPECT_EQ(listed(archive({global, {"a", "1"}, pax_path("b"), {"cut", "2"}, {"c", "3"}})),
            (List{"a=1", "b=2", "c=3"}));
}

TEST(Tar, ReadsBinarySizes) {
  EXPECT_EQ(listed(archive({{.name = "a", .content = std::string(700, 'y'), .binary_size = true}, {"b", "1"}})),
            (List{"a=" + std::string(700, 'y'), "b=1"}));
}

TEST(Tar, PassesOverWhatIsNoFile) {
  EXPECT_EQ(listed(archive({{.name = "pipe", .type = '6'},
                            {.name = "disk", .type = '4'},
                            {.name = "label", .type = 'V'},
                            {"a", "old"},
                            {"/etc/x", "1"},
                            {"a", "new"}})),
            (List{"a=new", "etc/x=1"}));
  const auto behind = tar_of({{"a", "1"}}) + "what follows the end mark";
  EXPECT_EQ(listed({behind, "x.tar"}), (List{"a=1"}));
}

TEST(Tar, ReadsFilesInPlaceAndCompressedOnesInMemory) {
  const TemporaryFolder folder;
  const std::string bytes = tar_of({{"a", "1"}, {"b", "2"}});
  std::ofstream(folder / "plain.tar") << bytes;
  std::ofstream(folder / "packed.tgz") << gzip(bytes);
  std::ofstream(folder / "packed.tar.zst") << zstd(bytes);
  EXPECT_EQ(listed(TarArchive(folder / "plain.tar")), (List{"a=1", "b=2"}));
  EXPECT_EQ(listed(TarArchive(folder / "packed.tgz")), (List{"a=1", "b=2"}));
  EXPECT_EQ(listed(TarArchive(folder / "packed.tar.zst")), (List{"a=1", "b=2"}));
  EXPECT_EQ(listed({zstd(bytes.substr(0, 700)) + zstd(bytes.substr(700)), "two frames.tar.zst"}), (List{"a=1", "b=2"}));
  const TarArchive open(folder / "plain.tar");
  std::filesystem::resize_file(folder / "plain.tar", 600);
  EXPECT_EQ(error_of([&] { open.read(open.entries()[1]); }),
            "error[RT0502]: archive \"" + (folder / "plain.tar").string() + "\" became shorter while it was read");
}

TEST(Tar, AnArchiveThatIsHeldIsNotReadAgain) {
  const TemporaryFolder folder;
  const auto path = folder / "packed.tgz";
  write_file_whole(path, gzip(tar_of({{"a", "1"}})));
  const auto held = open_archive(path);
  EXPECT_EQ(open_archive(path), held);
  write_file_whole(path, gzip(tar_of({{"a", "2"}})));
  EXPECT_EQ(listed(*open_archive(path)), List{"a=2"}) << "another file";
  EXPECT_EQ(listed(*held), List{"a=1"});
  EXPECT_EQ(error_of([&] { open_archive(folder / "packed.tg"); }), error_of([&] { TarArchive(folder / "packed.tg"); }));
}

TEST(Tar, RefusesTruncatedArchives) {
  const std::string bytes = tar_of({{"a", "1"}, {"b", "2"}});
  EXPECT_EQ(refusal(""), damaged("0", "it holds no header"));
  EXPECT_EQ(refusal(bytes.substr(0, 511)), damaged("511", "it holds no header"));
  EXPECT_EQ(refusal(bytes.substr(0, 513)), damaged("0", "it ends early, within the member that begins there"));
  EXPECT_EQ(refusal(bytes.substr(0, 2048)), damaged("2048", "it ends early"));
  EXPECT_EQ(listed({bytes.substr(0, 2560), "one block of the end mark is enough"}), (List{"a=1", "b=2"}));
  for (size_t size = 0; size < 2560; size += 7) EXPECT_NE(refusal(bytes.substr(0, size)), "") << size;
}

TEST(Tar, FindsEveryChangeOfAHeader) {
  const std::string bytes = tar_of({{"a", "1"}});
  for (size_t at = 0; at < 512; ++at) {
    std::string changed = bytes;
    changed[at] = static_cast<char>(changed[at] + 1);
    if (at == 154 || at == 155) continue;  // the end of the checksum itself: any blank is right there
    EXPECT_EQ(refusal(changed), damaged("0", "no header with a right checksum is there")) << at;
  }
}

TEST(Tar, RefusesWrongHeaders) {
  std::string size = tar_of({{"a", "1"}});
  size[124] = 'x';
  std::string block = size.substr(0, 512);
  set_tar_checksum(block);
  EXPECT_EQ(refusal(block + size.substr(512)), damaged("0", "the size of a member is no number"));
  block.replace(124, 12, std::string(12, '\xff'));
  set_tar_checksum(block);
  EXPECT_EQ(refusal(block + size.substr(512)), damaged("0", "the size of a member is no number"));
  EXPECT_EQ(refusal_of({.name = "h", .content = "12 path=a", .type = 'x'}),
            damaged("512", "what describes the next member has no records"));
  EXPECT_EQ(refusal_of({.name = "h", .content = "10 size=x\n", .type = 'x'}),
            damaged("512", "the size of a member is no number"));
  EXPECT_EQ(refusal_of({.name = "a", .type = '!'}), damaged("0", "a member is of the unknown type 0x21"));
  EXPECT_EQ(refusal(gzip(tar_of({{"a", "1"}})).substr(0, 40)).substr(0, 52), damaged("", "").substr(0, 52));
}

TEST(Tar, RefusesDamagedZstd) {
  const std::string bytes = zstd(tar_of({{"a", std::string(3000, 'x')}}));
  EXPECT_NE(refusal(bytes + "more").find("its compression is damaged: "), std::string::npos);
  for (size_t size = 4; size < bytes.size(); ++size)
    EXPECT_NE(refusal(bytes.substr(0, size)).find("its compression is damaged: it ends early"), std::string::npos)
        << size;
  for (size_t at = 4; at < bytes.size(); ++at) {
    std::string changed = bytes;
    changed[at] = static_cast<char>(changed[at] ^ 0x08);
    EXPECT_NE(refusal(changed), "") << at;
  }
}

TEST(Tar, RefusesWhatCannotBeRead) {
  EXPECT_EQ(refusal_of({.name = "a/../../b"}),
            "error[RT0652]: the archive \"pets.tar\" has a member \"a/../../b\", which is not within it\n"
            "  help:     make the archive anew, in the folder that holds its files");
  const std::string holes =
      "error[RT0654]: the member \"a\" of the archive \"pets.tar\" is stored with holes\n"
      "  help:     make the archive anew, without the option --sparse of tar";
  EXPECT_EQ(refusal_of({.name = "a", .type = 'S'}), holes);
  EXPECT_EQ(refusal(tar_of({{.name = "h", .content = "22 GNU.sparse.major=1\n", .type = 'x'}, {"a", "1"}})), holes);
  EXPECT_EQ(refusal_of({.name = "a", .type = 'M'}),
            "error[RT0654]: the member \"a\" of the archive \"pets.tar\" goes on in another volume\n"
            "  help:     make one archive of all volumes, without --multi-volume");
  const auto compressed = [](const std::string& name, const std::string& help) {
    return "error[RT0650]: the archive \"pets.tar\" is compressed by " + name +
           "\n  expected: a plain tar archive, or one compressed by gzip or zstd\n  help:     " + help;
  };
  EXPECT_EQ(refusal("\xfd\x37zXZ..."), compressed("xz", "decompress it first, with \"unxz\""));
  EXPECT_EQ(refusal("BZh9..."), compressed("bzip2", "decompress it first, with \"bunzip2\""));
  EXPECT_EQ(refusal("PK\x03\x04..."), compressed("zip", "unpack it first, with \"unzip\""));
}

TEST(Tar, RefusesCompressedArchivesThatAreTooLarge) {
  const std::string bytes = tar_of({{"a", std::string(3000, 'x')}});
  for (const std::string& packed : {gzip(bytes), zstd(bytes)}) {
    EXPECT_EQ(listed({packed, "pets.tar", bytes.size()}).size(), 1u);
    EXPECT_EQ(error_of([&] { TarArchive(packed, "pets.tar", bytes.size() - 1); }),
              "error[RT0651]: the compressed archive \"pets.tar\" is too large for memory\n"
              "  got:      more than 4607 bytes after decompression\n"
              "  help:     decompress it first, with \"gunzip\" or \"zstd -d\": a plain archive is read in place");
  }
}

TEST(Tar, FindsTheArchiveOfAPath) {
  const TemporaryFolder folder;
  const std::string base = folder.path().string();
  std::ofstream(folder / "pets.tar") << tar_of({});
  std::filesystem::create_directories(folder / "b.tar");
  EXPECT_EQ(archive_path(base + "/pets.tar/train/cat").value().archive, base + "/pets.tar");
  EXPECT_EQ(archive_path(base + "/pets.tar/train/cat").value().inside, "train/cat");
  EXPECT_EQ(archive_path(base + "/pets.tar").value().inside, "");
  EXPECT_FALSE(archive_path(base + "/b.tar/train"));
  EXPECT_FALSE(archive_path(base + "/none.tar/train"));
}

}  // namespace
}  // namespace retrace
