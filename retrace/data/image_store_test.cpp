#include "retrace/data/image_store.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <numeric>

#include "retrace/data/gzip.h"
#include "retrace/data/image_files.h"
#include "retrace/data/image_fit.h"
#include "retrace/data/image_search.h"
#include "retrace/data/image_testing.h"
#include "retrace/data/mini_batch_queue.h"
#include "retrace/data/tar_testing.h"
#include "retrace/tensor/fingerprint.h"
#include "tests/error_testing.h"

namespace retrace {
namespace {

const Place kHere{"train.cpp", 5};

std::string grey(uint8_t value, int64_t height = 2, int64_t width = 3) {
  return png_of(std::vector<uint8_t>(static_cast<size_t>(height * width), value),
                {.height = height, .width = width, .colours = PNG_COLOR_TYPE_GRAY});
}

// Three classes of 4, 3 and 2 images, in files that are not written in their order.
void write_pets(const ImageFolder& folder) {
  for (const int i : {3, 1, 0, 2}) folder.write(fmt::format("dog/{}.png", i), grey(static_cast<uint8_t>(20 + i)));
  for (const int i : {2, 0, 1}) folder.write(fmt::format("cat/{}.PNG", i), grey(static_cast<uint8_t>(10 + i)));
  for (const int i : {1, 0}) folder.write(fmt::format("ant-eater/{}.png", i), grey(static_cast<uint8_t>(i)));
  folder.write("cat/notes.txt", "no image");
  folder.write("cat/._0.png", "left by another system");
}

ImageDatastore pets(const ImageFolder& folder) {
  return image_datastore(folder.path().string(), {.labels = LabelsFrom::folder_names});
}

std::vector<int> pixels(const Datastore& store) {
  std::vector<int> first;
  for (int64_t i = 0; i < store.size(); ++i) first.push_back(store.get(i)[0].to_vector<uint8_t>()[0]);
  return first;
}

TEST(ImageStore, ListsFilesByTheBytesOfTheirPaths) {
  const ImageFolder folder;
  write_pets(folder);
  const auto store = pets(folder);
  EXPECT_EQ(pixels(store), (std::vector<int>{0, 1, 10, 11, 12, 20, 21, 22, 23}));
  EXPECT_EQ(store.class_names(), (std::vector<std::string>{"ant-eater", "cat", "dog"}));
  EXPECT_EQ(store.count_each_label(), (std::vector<LabelCount>{{"ant-eater", 2}, {"cat", 3}, {"dog", 4}}));
  EXPECT_EQ(store.labels(), (std::vector<int32_t>{0, 0, 1, 1, 1, 2, 2, 2, 2}));
  EXPECT_EQ(store.files()[3], folder.at("cat/1.PNG"));
  EXPECT_EQ(store.sizes(), Shape({2, 3, 1}));
  const Observation one = store.get(4);
  EXPECT_EQ(one[0].spec().text(), "u8[2,3,1] \"SSC\"");
  EXPECT_EQ(one[1].item<int32_t>(), 1);
  EXPECT_EQ(one[1].spec(), (TensorSpec{DType::i32, {}, {}, {}}));
  EXPECT_EQ(pets(folder).source()->gather(std::vector<int64_t>{8, 0}, 0, 2)[0].spec().text(), "u8[2,2,3,1] \"BSSC\"");
}

// The archive of what write_pets() writes, below `top`, in another order and with hidden members.
std::string pets_tar(const std::string& top) {
  std::vector<TarTestMember> members{{.name = top + "dog/", .type = '5'}, {top + "cat/notes.txt", "no image"}};
  for (const int i : {2, 3, 0, 1})
    members.push_back({top + fmt::format("dog/{}.png", i), grey(static_cast<uint8_t>(20 + i))});
  for (const int i : {1, 0, 2})
    members.push_back({top + fmt::format("cat/{}.PNG", i), grey(static_cast<uint8_t>(10 + i))});
  for (const int i : {0, 1})
    members.push_back({top + fmt::format("ant-eater/{}.png", i), grey(static_cast<uint8_t>(i))});
  members.push_back({top + "cat/._0.png", "left by another system"});
  members.push_back({top + ".cache/", "", '5'});
  return tar_of(members);
}

TEST(ImageStore, ReadsAnArchiveLikeTheFolder) {
  const ImageFolder folder, plain;
  write_pets(plain);
  folder.write("pets.tar", pets_tar("./"));
  folder.write("pets.tgz", gzip(pets_tar("set/train/")));
  const auto wanted = pets(plain);
  std::vector<int64_t> all(9);
  std::iota(all.begin(), all.end(), 0);
  for (const std::string location : {"pets.tar", "pets.tgz", "pets.tgz/set", "pets.tgz/set/train/"}) {
    const auto found = image_datastore(folder.at(location), {.labels = LabelsFrom::folder_names});
    EXPECT_EQ(pixels(found), pixels(wanted)) << location;
    EXPECT_EQ(found.class_names(), wanted.class_names()) << location;
    EXPECT_EQ(found.labels(), wanted.labels()) << location;
    EXPECT_EQ(found.source()->digest(all), wanted.source()->digest(all)) << location;
  }
  EXPECT_EQ(image_datastore(folder.at("pets.tar")).files()[3], folder.at("pets.tar/cat/1.PNG"));
  EXPECT_EQ(pixels(image_datastore(folder.at("pets.tar/*/1.*"))), (std::vector<int>{1, 11, 21}));
  EXPECT_EQ(pixels(image_datastore(folder.at("pets.tar/d*"))), (std::vector<int>{20, 21, 22, 23}));
  EXPECT_EQ(pixels(image_datastore(folder.at("pets.tgz/set/train/dog/2.png"))), (std::vector<int>{22}));
}

TEST(ImageStore, NamesWhatIsWrongInAnArchive) {
  const ImageFolder folder;
  const auto refusal = [&](const std::string& inside, const std::vector<TarTestMember>& members) {
    folder.write("a.tar", tar_of(members));
    return error_of([&] {
      image_datastore(folder.at("a.tar" + inside), {.labels = LabelsFrom::folder_names}, kHere).read_all(kHere);
    });
  };
  const std::string archive = folder.at("a.tar");
  const TarTestMember cat{"top/train/cat/1.png", grey(1)};
  EXPECT_TRUE(says(refusal("/train", {cat}), "there is no \"train\" in the archive \"" + archive + "\""));
  EXPECT_TRUE(says(refusal("/train", {cat}), "help:     did you mean \"" + archive + "/top/train\"?"));
  EXPECT_TRUE(says(refusal("/tip", {cat}), "help:     did you mean \"" + archive + "/top\"?"));
  EXPECT_TRUE(says(refusal("/test", {{"notes"}}), "help:     it begins with \"" + archive + "/notes\""));
  EXPECT_TRUE(says(refusal("/test", {}), "help:     it is empty"));
  EXPECT_TRUE(says(refusal("/top", {{.name = "top/", .type = '5'}}),
                   "there is no image in the folder \"" + archive + "/top\""));
  EXPECT_TRUE(says(refusal("/*/x", {cat}), "no image matches \"" + archive + "/*/x\""));
  EXPECT_TRUE(says(refusal("", {cat, {"top/train/dog/notes.txt"}}),
                   "the folder \"" + archive + "/top/train/dog\" of a class has no image"));
  EXPECT_TRUE(says(refusal("/top/train", {cat, {"top/train/1.png", grey(1)}}),
                   "the image \"" + archive + "/top/train/1.png\" is not in the folder of a class"));
  EXPECT_TRUE(says(refusal("", {cat, {.name = "top/train/cat/2.png", .type = '1'}}),
                   "\"" + archive + "/top/train/cat/2.png\" is a link"));
  EXPECT_TRUE(says(refusal("", {cat, {.name = "more", .type = '2'}}),
                   "help:     make the archive anew, with the options --dereference --hard-dereference of tar"));
  EXPECT_TRUE(
      says(refusal("/top", {{.name = "more", .type = '2'}, cat, {.name = "top/.more", .type = '2'}}), "no error"));
  EXPECT_TRUE(
      says(refusal("", {{"cat/1.png", grey(1).substr(0, 40)}}), "the image \"" + archive + "/cat/1.png\" is damaged"));
}

TEST(ImageStore, TakesWildcardsAndSingleFiles) {
  const ImageFolder folder;
  write_pets(folder);
  EXPECT_EQ(pixels(image_datastore(folder.at("*/1.*"))), (std::vector<int>{1, 11, 21}));
  EXPECT_EQ(pixels(image_datastore(folder.at("?og/"))), (std::vector<int>{20, 21, 22, 23}));
  EXPECT_EQ(pixels(image_datastore(folder.at("dog/2.png"))), (std::vector<int>{22}));
  EXPECT_EQ(image_datastore(folder.at("dog")).variables(), 1);
  EXPECT_TRUE(matches_wildcard("a*b?c*", "axxbbxbzc"));
  EXPECT_FALSE(matches_wildcard("a*b", "axbx"));
  EXPECT_FALSE(matches_wildcard("*", ".hidden"));
}

TEST(ImageStore, KeepsClassesInItsParts) {
  const ImageFolder folder;
  write_pets(folder);
  const auto store = pets(folder);
  EXPECT_EQ(pixels(store.subset({8, 0, 8})), (std::vector<int>{23, 0, 23}));
  EXPECT_EQ(store.subset({8, 0, 8}).count_each_label(),
            (std::vector<LabelCount>{{"ant-eater", 1}, {"cat", 0}, {"dog", 2}}));
  EXPECT_EQ(pixels(store.partition(2, 1)), (std::vector<int>{20, 21, 22, 23}));
  const Datastore plain = store;
  EXPECT_EQ(pixels(store.shuffle(3)), pixels(plain.shuffle(3)));
  EXPECT_EQ(store.shuffle(3).source()->sample(0), plain.shuffle(3).source()->sample(0));
}

TEST(ImageStore, SplitsEachLabel) {
  const ImageFolder folder;
  write_pets(folder);
  const auto store = pets(folder);
  const auto halves = store.split_each_label({0.5});
  ASSERT_EQ(halves.size(), 2u);
  EXPECT_EQ(pixels(halves[0]), (std::vector<int>{0, 10, 20, 21}));
  EXPECT_EQ(pixels(halves[1]), (std::vector<int>{1, 11, 12, 22, 23}));
  const auto counts = store.split_each_label({1, 1});
  ASSERT_EQ(counts.size(), 3u);
  EXPECT_EQ(pixels(counts[1]), (std::vector<int>{1, 11, 21}));
  EXPECT_EQ(pixels(counts[2]), (std::vector<int>{12, 22, 23}));
  // At random: the same numbers of each, another choice, which a seed repeats.
  const LabelSplitOptions random{.randomized = true, .seed = 4};
  const auto chosen = store.split_each_label({0.5}, random);
  EXPECT_EQ(chosen[0].count_each_label(), halves[0].count_each_label());
  EXPECT_EQ(pixels(chosen[0]), pixels(store.split_each_label({0.5}, random)[0]));
  auto both = pixels(chosen[0]);
  for (const int value : pixels(chosen[1])) both.push_back(value);
  std::sort(both.begin(), both.end());
  EXPECT_EQ(both, pixels(store));
}

TEST(ImageStore, RefusesSplitsThatClassesDoNotHave) {
  const ImageFolder folder;
  write_pets(folder);
  const auto store = pets(folder);
  EXPECT_EQ(error_of([&] { store.split_each_label({2, 1}, {}, kHere); }),
            "error[RT0344]: split_each_label: the class \"ant-eater\" has 2 images\n  where:    train.cpp:5\n"
            "  expected: at least 3 in every class");
  EXPECT_EQ(error_of([&] { store.split_each_label({0.5, 1}, {}, kHere); }),
            "error[RT0344]: split_each_label: the parts are neither fractions nor numbers of images\n"
            "  where:    train.cpp:5\n  expected: fractions above 0 and below 1, or whole numbers of 1 or more");
  EXPECT_TRUE(says(error_of([&] { store.split_each_label({0.5, 0.6}); }), "the fractions are 1.1 in all"));
  EXPECT_EQ(error_of([&] { image_datastore(folder.at("dog")).split_each_label({0.5}, {}, kHere); }),
            "error[RT0343]: split_each_label: this store has no labels\n  where:    train.cpp:5\n"
            "  help:     make it with .labels = LabelsFrom::folder_names");
}

TEST(ImageStore, RefusesFoldersWithoutImages) {
  const ImageFolder folder;
  write_pets(folder);
  const auto labelled = [&](const std::string& location) {
    return error_of([&] { image_datastore(location, {.labels = LabelsFrom::folder_names}, kHere); });
  };
  EXPECT_EQ(labelled(folder.at("*/*.jpg")), "error[RT0336]: no image matches \"" + folder.at("*/*.jpg") +
                                                "\"\n  where:    train.cpp:5\n"
                                                "  expected: files whose names end in .jpg, .jpeg or .png");
  EXPECT_EQ(labelled(folder.at("cats")), "error[RT0501]: image folder \"" + folder.at("cats") +
                                             "\" does not exist\n  where:    train.cpp:5\n  help:     did you mean \"" +
                                             folder.at("cat") + "\"?");
  EXPECT_EQ(labelled(folder.at("dog")), "error[RT0339]: the image \"" + folder.at("dog/0.png") +
                                            "\" is not in the folder of a class\n  where:    train.cpp:5\n"
                                            "  expected: a folder for each class, with the images of the class in it\n"
                                            "  help:     move it into the folder of its class, or take it out");
  std::filesystem::create_directories(folder.path() / "bird");
  EXPECT_EQ(labelled(folder.path().string()), "error[RT0338]: the folder \"" + folder.at("bird") +
                                                  "\" of a class has no image\n  where:    train.cpp:5\n"
                                                  "  help:     remove it, or put images of the class into it");
  EXPECT_EQ(labelled(folder.at("bird")), "error[RT0336]: there is no image in the folder \"" + folder.at("bird") +
                                             "\"\n  where:    train.cpp:5\n"
                                             "  expected: files whose names end in .jpg, .jpeg or .png");
  EXPECT_NO_THROW(image_datastore(folder.path().string()));
  std::filesystem::create_directory_symlink(folder.path(), folder.path() / "dog/up");
  EXPECT_EQ(error_of([&] { image_datastore(folder.path().string(), {}, kHere); }),
            "error[RT0337]: \"" + folder.at("dog/up") +
                "\" is a link to a folder that it lies in\n  where:    train.cpp:5\n  help:     remove the link");
}

TEST(ImageStore, GivesClassesTheLabelsOfAnotherStore) {
  const ImageFolder folder;
  write_pets(folder);
  const auto with = [&](std::vector<std::string> names) {
    return image_datastore(folder.path().string(),
                           {.labels = LabelsFrom::folder_names, .class_names = std::move(names)}, kHere);
  };
  EXPECT_EQ(with({"dog", "cow", "cat", "ant-eater"}).labels(), (std::vector<int32_t>{3, 3, 2, 2, 2, 0, 0, 0, 0}));
  EXPECT_EQ(error_of([&] { with({"cat", "dog"}); }),
            "error[RT0340]: the image \"" + folder.at("ant-eater/0.png") +
                "\" is of no known class\n  where:    train.cpp:5\n  got:      ant-eater\n  expected: cat, dog\n"
                "  help:     add the class to the training set (in a program, to class_names), or take its images out");
}

TEST(ImageStore, NamesTheFileThatDoesNotFit) {
  const ImageFolder folder;
  folder.write("a.png", grey(1)), folder.write("b.png", grey(2, 4, 3)), folder.write("c.png", "text");
  const auto store = image_datastore(folder.path().string());
  EXPECT_EQ(
      error_of([&] { store.get(1, kHere); }),
      "error[RT0341]: the image \"" + folder.at("b.png") +
          "\" has the wrong size\n  where:    train.cpp:5\n"
          "  got:      4 x 3 pixels (height x width)\n  expected: 2 x 3 pixels (height x width)\n"
          "  help:     set fit to resize or center_crop (in a job data.image_fit = \"resize\" or \"center-crop\")");
  EXPECT_TRUE(says(error_of([&] { store.get(2); }), folder.at("c.png")));
  MiniBatchQueue queue(store, {.mini_batch_size = 1, .prefetch_threads = 2});
  queue.next();
  EXPECT_TRUE(says(error_of([&] { queue.next(); }), folder.at("b.png")));
  const auto cut = image_datastore(folder.path().string(), {.height = 3, .fit = ImageFit::center_crop});
  EXPECT_EQ(cut.get(1)[0].shape(), Shape({3, 3, 1}));
  EXPECT_EQ(error_of([&] { cut.get(0, kHere); }),
            "error[RT0341]: the image \"" + folder.at("a.png") +
                "\" is smaller than the part that is cut out of it\n  where:    train.cpp:5\n"
                "  got:      2 x 3 pixels (height x width)\n  expected: at least 3 x 3 pixels (height x width)\n"
                "  help:     set fit to resize (in a job data.image_fit = \"resize\"), or ask for a smaller part");
  EXPECT_EQ(error_of([&] { image_datastore(folder.path().string(), {.channels = 2}, kHere); }),
            "error[RT0342]: image_datastore: there are no images of these sizes\n  where:    train.cpp:5\n"
            "  got:      height 0, width 0, channels 2\n"
            "  expected: height and width of 1 or more, channels of 1 or 3; 0 takes those of the first image");
}

TEST(ImageStore, FitsImages) {
  const ImagePixels image{{2, 4, 1}, {0, 40, 80, 120, 4, 44, 84, 124}};
  EXPECT_EQ(fitted(image, {2, 2, 1}, ImageFit::center_crop, "a").values, (std::vector<uint8_t>{40, 80, 44, 84}));
  EXPECT_EQ(fitted(image, {2, 4, 3}, ImageFit::exact, "a").values.size(), 24u);
  EXPECT_EQ(fitted({{1, 2, 3}, {10, 20, 30, 255, 255, 255}}, {1, 2, 1}, ImageFit::exact, "a").values,
            (std::vector<uint8_t>{18, 255}));  // 2.99 + 11.74 + 3.42 = 18.15
  // Twice as wide: weights of 3/4 and 1/4, the last pixels alone at the sides.
  EXPECT_EQ(fitted({{1, 2, 1}, {0, 100}}, {1, 4, 1}, ImageFit::resize, "a").values,
            (std::vector<uint8_t>{0, 25, 75, 100}));
  // Half as wide: weights of 1 3 3 1 over 8; at the sides 3 3 1 over 7.
  EXPECT_EQ(fitted({{1, 4, 1}, {70, 0, 0, 0}}, {1, 2, 1}, ImageFit::resize, "a").values, (std::vector<uint8_t>{30, 0}));
  EXPECT_EQ(fitted({{6, 5, 1}, std::vector<uint8_t>(30, 200)}, {3, 9, 1}, ImageFit::resize, "a").values,
            std::vector<uint8_t>(27, 200));
}

// The bits of all mini-batches do not depend on how many threads decode them.
TEST(ImageStore, DecodesAheadWithTheSameBits) {
  const ImageFolder folder;
  for (int i = 0; i < 40; ++i) {
    std::vector<uint8_t> values;
    for (int k = 0; k < 16 * 16 * 3; ++k) values.push_back(static_cast<uint8_t>(k * (i + 3) / 5));
    folder.write(fmt::format("{}/{:02}.jpg", i % 3, i), jpeg_of(values, 16, 16, 3));
  }
  const auto store = image_datastore(folder.path().string(), {.labels = LabelsFrom::folder_names, .scale_bytes = true});
  std::vector<std::string> told;
  for (const int threads : {0, 1, 2, 5}) {
    MiniBatchQueue queue(store, {.mini_batch_size = 7, .seed = 1, .prefetch_threads = threads});
    queue.shuffle();
    std::string text;
    while (queue.has_data())
      for (const auto& output : queue.next()) text += fmt::format("{} {}\n", output.spec().text(), fingerprint(output));
    told.push_back(text);
  }
  EXPECT_TRUE(says(told[0], "f32[7,16,16,3] \"BSSC\""));
  for (const auto& text : told) EXPECT_EQ(text, told[0]);
}

TEST(ImageStore, TellsAllBrokenImagesAtOnce) {
  const ImageFolder folder;
  write_pets(folder);
  folder.write("dog/1.png", grey(1).substr(0, 40));
  const auto refusal = [&] { return error_of([&] { pets(folder).read_all(); }); };
  EXPECT_TRUE(says(refusal(), "error[RT0334]: the image \"" + folder.at("dog/1.png") + "\" is damaged")) << refusal();
  for (int i = 0; i < 10; ++i) folder.write(fmt::format("cat/x{}.png", i), "<html>");
  folder.write("dog/3.png", "");
  EXPECT_TRUE(refusal().starts_with("error[RT0531]: 12 of 19 images cannot be read\n  where:    image_store_test.cpp:"))
      << refusal();
  EXPECT_TRUE(
      says(refusal(), "\n  got:      \"" + folder.at("cat/x0.png") + "\" is neither a JPEG nor a PNG\n            \""))
      << refusal();
  EXPECT_TRUE(says(refusal(), "cat/x9.png\" is neither a JPEG nor a PNG\n            and 2 more\n  help: "))
      << refusal();
  folder.write("ant-eater/0.png", "");  // whose sizes would be those of all
  EXPECT_TRUE(refusal().starts_with("error[RT0531]: 13 of 19 images")) << refusal();
}

}  // namespace
}  // namespace retrace
