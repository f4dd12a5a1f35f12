// NPY files as stores: what is read, and what is refused.
#include "retrace/data/npy_store.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "retrace/base/file.h"
#include "retrace/data/npy.h"
#include "retrace/data/npy_testing.h"
#include "retrace/data/npz_arrays.h"
#include "retrace/data/zip.h"
#include "tests/error_testing.h"
#include "tests/temporary_folder.h"

namespace retrace {
namespace {

using Floats = std::vector<float>;
using Integers = std::vector<int64_t>;

std::string refusal(const std::string& bytes) {
  return error_of([&] { parse_npy(bytes, "x.npy"); });
}

TEST(Npy, ReadsEveryTypeAndVersion) {
  const auto read = [](const std::string& bytes) { return parse_npy(bytes, "x.npy"); };
  for (const int version : {1, 2, 3}) {
    const NpyArray array = read(npy_of<float>("<f4", "(2, 3)", {1, 2, 3, 4, 5, -6.5f}, false, version));
    EXPECT_EQ(array.text(), "f4[2,3]");
    EXPECT_EQ(array.floats(), (Floats{1, 2, 3, 4, 5, -6.5f}));
  }
  EXPECT_EQ(read(npy_of<double>("<f8", "(2,)", {0.1, 16777217})).floats(), (Floats{0.1f, 16777216}));
  EXPECT_EQ(read(npy_of<int8_t>("|i1", "(2,)", {-128, 127})).integers(), (Integers{-128, 127}));
  EXPECT_EQ(read(npy_of<int16_t>("<i2", "(2,)", {-32768, 7})).integers(), (Integers{-32768, 7}));
  EXPECT_EQ(read(npy_of<int32_t>("<i4", "(1,)", {-7})).integers(), (Integers{-7}));
  EXPECT_EQ(read(npy_of<int64_t>("<i8", "(1,)", {-(int64_t{1} << 40)})).integers(), (Integers{-(int64_t{1} << 40)}));
  EXPECT_EQ(read(npy_of<uint8_t>("|u1", "(1,)", {255})).floats(), (Floats{255}));
  EXPECT_EQ(read(npy_of<uint16_t>("<u2", "(1,)", {65535})).integers(), (Integers{65535}));
  EXPECT_EQ(read(npy_of<uint32_t>("<u4", "(1,)", {4294967295})).integers(), (Integers{4294967295}));
  EXPECT_EQ(read(npy_of<uint64_t>("<u8", "(1,)", {~uint64_t{0}})).integers(),
            (Integers{std::numeric_limits<int64_t>::max()}));
  EXPECT_EQ(read(npy_of<uint8_t>("|b1", "(3,)", {0, 1, 7})).floats(), (Floats{0, 1, 1}));
  EXPECT_EQ(read(npy_of<uint8_t>("|b1", "(3,)", {0, 1, 7})).integers(), (Integers{0, 1, 1}));
  EXPECT_EQ(read(npy_of<float>("<f4", "()", {3})).shape, Shape());
  EXPECT_TRUE(read(npy_of<float>("<f4", "(0, 3)", {})).floats().empty());
}

TEST(Npy, FortranOrderBecomesRowMajor) {
  // Element (i, j, k) of [2,3,4] is 100 i + 10 j + k.
  Floats stored, wanted;
  for (int k = 0; k < 4; ++k)
    for (int j = 0; j < 3; ++j)
      for (int i = 0; i < 2; ++i) stored.push_back(static_cast<float>(100 * i + 10 * j + k));
  for (int i = 0; i < 2; ++i)
    for (int j = 0; j < 3; ++j)
      for (int k = 0; k < 4; ++k) wanted.push_back(static_cast<float>(100 * i + 10 * j + k));
  EXPECT_EQ(parse_npy(npy_of("<f4", "(2, 3, 4)", stored, true), "x.npy").floats(), wanted);
}

TEST(Npy, ReadsHalves) {
  EXPECT_EQ(parse_npy(npy_of<uint16_t>("<f2", "(3,)", {0x3c00, 0xc500, 0x0001}), "x.npy").floats(),
            (std::vector<float>{1, -5, 0x1p-24f}));
}

TEST(Npy, RefusesTypesByName) {
  const auto with = [](const std::string& descr) { return refusal(npy_of<float>(descr, "(1,)", {1})); };
  EXPECT_EQ(with(">f4"),
            "error[RT0364]: NPY file \"x.npy\" holds big-endian values\n  got:      the type >f4\n"
            "  expected: little-endian f2, f4, f8, i1 to i8, u1 to u8 or b1\n"
            "  help:     convert them: a.astype(a.dtype.newbyteorder(\"<\"))");
  EXPECT_TRUE(says(with("|O"), "holds Python objects, which could run code"));
  EXPECT_TRUE(says(with("<c8"), "holds complex numbers"));
  EXPECT_TRUE(says(with("<U5"), "holds texts"));
  EXPECT_TRUE(says(with("<f1"), "holds values that are not read\n  got:      the type <f1"));
  EXPECT_TRUE(says(with("<f3"), "holds values that are not read"));
  EXPECT_TRUE(says(with("<M8[s]"), "holds values that are not read"));
  EXPECT_TRUE(says(with(""), "holds values that are not read"));
  const std::string records = "{'descr': [('a', '<f4')], 'fortran_order': False, 'shape': (1,), }";
  EXPECT_TRUE(says(refusal(npy_with_header(records, "0123")), "holds records"));
}

TEST(Npy, RefusesDamage) {
  const std::string whole = npy_of<float>("<f4", "(2, 3)", {1, 2, 3, 4, 5, 6});
  for (size_t size = 0; size < whole.size(); ++size) EXPECT_NE(refusal(whole.substr(0, size)), "no error") << size;
  EXPECT_EQ(refusal(whole.substr(0, whole.size() - 1)),
            "error[RT0363]: NPY file \"x.npy\" is truncated\n  got:      151 bytes\n"
            "  expected: 152 bytes: a header of 128 and 24 for f4[2,3]\n  help:     write it again");
  EXPECT_TRUE(says(refusal(whole + "x"), "has bytes after its values"));
  EXPECT_EQ(refusal("PK\3\4 an archive"),
            "error[RT0363]: NPY file \"x.npy\" does not begin like an NPY file\n"
            "  help:     write it with numpy.save; an NPZ has to be unpacked");
  EXPECT_TRUE(says(refusal(npy_of<float>("<f4", "(1,)", {1}, false, 4)), "has version 4"));
  for (const char* header : {"", "{", "{}", "{'descr': '<f4', 'fortran_order': False}",
                             "{'descr': '<f4', 'shape': (1,)}", "{'descr': '<f4', 'fortran_order': 0, 'shape': (1,), }",
                             "{'descr': '<f4', 'fortran_order': False, 'shape': (-1,), }",
                             "{'descr': '<f4', 'fortran_order': False, 'shape': (1 1), }",
                             "{'descr': '<f4', 'fortran_order': False, 'shape': (1,), 'x': 1}"})
    EXPECT_TRUE(says(refusal(npy_with_header(header, "0123")), "has a header that is not numpy's")) << header;
  EXPECT_TRUE(
      says(refusal(npy_of<float>("<f4", "(4000000000, 4000000000)", {})), "declares more values than are read"));
  EXPECT_TRUE(says(refusal(npy_of<float>("<f4", "(1,1,1,1,1,1,1,1,1)", {1})), "has an array of more than 8 axes"));
}

class NpyFiles {
 public:
  std::string write(const std::string& name, const std::string& bytes) const {
    write_file_whole(folder_ / name, bytes);
    return (folder_ / name).string();
  }

 private:
  TemporaryFolder folder_;
};

TEST(NpyStore, GivesFeaturesAndTargets) {
  const NpyFiles files;
  const auto inputs = files.write("x.npy", npy_of<double>("<f8", "(2, 3)", {1, 2, 3, 4, 5, 6}));
  const auto classes = files.write("y.npy", npy_of<int64_t>("<i8", "(2,)", {1, 0}));
  const auto values = files.write("v.npy", npy_of<int16_t>("<i2", "(2, 2)", {1, 2, 3, 4}));
  const Datastore store = npy_store(inputs, classes);
  EXPECT_EQ(store.get(1)[0].spec().text(), "f32[3] \"C\"");
  EXPECT_EQ(store.get(1)[0].to_vector<float>(), (Floats{4, 5, 6}));
  EXPECT_EQ(store.get(0)[1].item<int32_t>(), 1);
  EXPECT_EQ(npy_store(inputs).variables(), 1);
  const Datastore regression = npy_store(inputs, values, {.task = Task::regression});
  EXPECT_EQ(regression.get(1)[1].spec().text(), "f32[2] \"C\"");
  EXPECT_EQ(regression.get(1)[1].to_vector<float>(), (Floats{3, 4}));
}

TEST(NpyStore, GivesImages) {
  const NpyFiles files;
  const auto bytes = files.write("b.npy", npy_of<uint8_t>("|u1", "(2, 1, 2, 1)", {0, 51, 102, 255}));
  EXPECT_EQ(npy_store(bytes).get(0)[0].spec().text(), "f32[1,2,1] \"SSC\"");
  EXPECT_EQ(npy_store(bytes).get(1)[0].to_vector<float>(), (Floats{102, 255}));
  EXPECT_EQ(npy_store(bytes, "", {.scale_bytes = true}).get(1)[0].to_vector<float>(), (Floats{102 / 255.0f, 1}));
  const auto grey = files.write("g.npy", npy_of<float>("<f4", "(1, 2, 2)", {1, 2, 3, 4}));
  EXPECT_EQ(npy_store(grey, "", {.scale_bytes = true}).get(0)[0].spec().text(), "f32[2,2,1] \"SSC\"");
}

TEST(NpyStore, RefusesWhatCannotBeLearned) {
  const NpyFiles files;
  const auto good = files.write("x.npy", npy_of<float>("<f4", "(2, 1)", {1, 2}));
  const auto text = [&](const std::string& bytes, bool target, Task task = Task::classification) {
    const auto file = files.write("bad.npy", bytes);
    const Place place{"train.cpp", 5};
    std::string found =
        error_of([&] { target ? npy_store(good, file, {.task = task}, place) : npy_store(file, "", {}, place); });
    for (const auto& path : {file, good})
      if (const size_t at = found.find(path); at != std::string::npos)
        found.replace(at, path.size(), path == file ? "BAD" : "X");
    return found;
  };
  EXPECT_EQ(text(npy_of<float>("<f4", "(2, 2)", {1, 2, NAN, 4}), false),
            "error[RT0365]: NPY file \"BAD\" has a value that is not finite\n  where:    train.cpp:5\n"
            "  got:      nan at [1,0]\n  expected: numbers that f32 can hold\n"
            "  help:     replace it: numpy.nan_to_num, or remove the sample");
  EXPECT_TRUE(says(text(npy_of<double>("<f8", "(1, 1)", {1e39}), false), "got:      inf at [0,0]"));
  EXPECT_EQ(
      text(npy_of<float>("<f4", "(2,)", {1, 2}), false),
      "error[RT0366]: NPY file \"BAD\" does not hold inputs of a network\n  where:    train.cpp:5\n"
      "  got:      [2]\n  expected: features [n,features], or images [n,height,width,channels] or [n,height,width]");
  EXPECT_TRUE(
      says(text(npy_of<float>("<f4", "(2,)", {1, 2}), true), "error[RT0367]: NPY file \"BAD\" does not hold numbers"));
  EXPECT_TRUE(says(text(npy_of<int8_t>("|i1", "(2,)", {1, -2}), true),
                   "error[RT0368]: NPY file \"BAD\" has the class -2 at index 1"));
  EXPECT_TRUE(says(text(npy_of<float>("<f4", "(2, 1, 1)", {1, 2}), true, Task::regression),
                   "error[RT0369]: NPY file \"BAD\" does not hold values to learn"));
  EXPECT_EQ(text(npy_of<int8_t>("|i1", "(3,)", {1, 1, 1}), true),
            "error[RT0370]: NPY file \"BAD\" has 3 targets\n  where:    train.cpp:5\n"
            "  expected: 2, one for each sample of \"X\"");
}

// Arrays of an NPZ file are read as the same files beside each other are.
TEST(Npy, LiesInNpzFiles) {
  const TemporaryFolder folder;
  const std::string inputs = npy_of<float>("<f4", "(2, 3)", {1, 2, 3, 4, 5, 6});
  write_file_whole(folder / "a.npz",
                   zip_of({{"X_train.npy", inputs}, {"y_train.npy", npy_of<uint8_t>("|u1", "(2,)", {1, 0})}}));
  EXPECT_EQ(npz_names(folder / "a.npz"), (std::vector<std::string>{"X_train", "y_train"}));
  EXPECT_EQ(read_npy_header(folder / "a.npz/X_train.npy").text(), "f4[2,3]");
  const std::string file = (folder / "a.npz").string();
  const Datastore store = npy_store(file + "/X_train.npy", file + "/y_train");
  EXPECT_EQ(store.get(1)[0].to_vector<float>(), (Floats{4, 5, 6}));
  EXPECT_EQ(store.get(0)[1].item<int32_t>(), 1);
  EXPECT_EQ(store.source()->files().size(), 1u) << "one file, though two arrays";
  const std::string error = error_of([&] { npy_store(file + "/X_trein.npy"); });
  EXPECT_TRUE(says(error, "has no array \"X_trein\"\n")) << error;
  EXPECT_TRUE(says(error, "  got:      X_train, y_train\n  help:     did you mean \"X_train\"?")) << error;
}

TEST(Npy, ArraysOfADataSetHaveNames) {
  using Names = std::vector<std::string>;
  for (const Names& names :
       {Names{"x_test", "x_train", "y_test", "y_train"}, Names{"test_X", "train_X", "test_Y", "train_Y"},
        Names{"test_images", "train_images", "test_labels", "train_labels"},
        Names{"test_inputs", "train_inputs", "test_targets", "train_targets"}}) {
    EXPECT_EQ(npz_array_of(names, "train", NpzPart::inputs), names[1]);
    EXPECT_EQ(npz_array_of(names, "test", NpzPart::inputs), names[0]);
    EXPECT_EQ(npz_array_of(names, "train", NpzPart::targets), names[3]);
    EXPECT_EQ(npz_array_of(names, "", NpzPart::inputs), std::nullopt);
  }
  EXPECT_EQ(npz_array_of({"y", "x"}, "", NpzPart::targets), "y");
}

}  // namespace
}  // namespace retrace
