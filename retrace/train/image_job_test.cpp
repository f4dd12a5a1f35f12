// Jobs on folders of images.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <map>
#include <sstream>

#include "retrace/base/file.h"
#include "retrace/data/gzip.h"
#include "retrace/data/image_testing.h"
#include "retrace/data/tar_testing.h"
#include "retrace/tensor/fingerprint.h"
#include "retrace/train/job_data.h"
#include "retrace/train/test_run.h"
#include "retrace/train/train_job.h"
#include "tests/error_testing.h"
#include "tests/s3_testing.h"
#include "tests/temporary_folder.h"

namespace retrace {
namespace {

// The class shows as a bright band of rows.
void write_images(const ImageFolder& folder, int classes, int64_t side = 32) {
  for (const std::string split : {"train", "test"})
    for (int n = 0; n < 3 * classes; ++n) {
      std::vector<uint8_t> values;
      for (int64_t i = 0; i < side * side * 3; ++i)
        values.push_back(static_cast<uint8_t>(i / (side * 3) / 3 == n % classes ? 200 + n : i % 50));
      folder.write(fmt::format("{}/class_{:02}/{}.jpg", split, n % classes, n), jpeg_of(values, side, side, 3));
    }
}

Job image_job(const ImageFolder& folder) {
  Job job = read_job(std::string(RETRACE_SOURCE_DIR) + "/jobs/cifar10.toml");
  job.data.path = folder.path().string();
  job.network.width = 2;
  job.training.max_epochs = 2;
  job.training.mini_batch_size = 4;
  job.device = "cpu";
  return job;
}

std::string job_refusal(const Job& job) {
  return error_of([&] { train_job(job, {.write_run = false}); });
}

// From object storage, with answers that fail and objects that are kept.
TEST(ImageJob, TrainsFromObjectStorageWithTheBitsOfTheFolder) {
  const S3Server server;
  if (!server.runs()) GTEST_SKIP() << "botocore is not installed (package python3-botocore)";
  const ImageFolder folder;
  write_images(folder, 4);
  const Job job = image_job(folder);
  const auto whole = train_job(job, {.write_run = false});
  server.tell("load", "bucket images/ " + folder.path().string());
  Job there = job;
  there.data.path = "s3://bucket/images";
  server.faults(R"([{"match": "train/class_01", "status": 503, "count": 2}, {"match": "test/", "truncate": true}])");
  EXPECT_EQ(train_job(there, {.write_run = false}).fingerprint, whole.fingerprint);
  server.tell("seen");
  there.threads = 1, there.workers = 2;
  EXPECT_EQ(train_job(there, {.write_run = false}).fingerprint, whole.fingerprint);
  EXPECT_EQ(server.requests(".jpg 200"), 0);
}

// A run on objects goes on with files of the same sizes; digests compare their content.
TEST(ImageJob, ARunOnObjectsGoesOnInAFolder) {
  const S3Server server;
  if (!server.runs()) GTEST_SKIP() << "botocore is not installed (package python3-botocore)";
  const ImageFolder folder, runs;
  write_images(folder, 4);
  server.tell("load", "resumed images/ " + folder.path().string());
  Job job = image_job(folder);
  const std::string whole = train_job(job, {.write_run = false}).fingerprint;
  job.data.path = "s3://resumed/images";
  int asked = 0;
  const auto run = runs / "run";
  ASSERT_GT(train_job(job, {.out = run, .stop = [&] { return ++asked >= 3; }}).checkpoint, 0);
  EXPECT_TRUE(says(read_file(run / "data.jsonl", "test", 1 << 20),
                   R"("object":"s3://resumed/images/train/class_01/1.jpg","tag":"\")"));
  job.data.path = folder.path().string();
  EXPECT_EQ(train_job(job, {.resume = run}).fingerprint, whole);
}

// Of other sources, which read files, a copy is made.
TEST(TableJob, TrainsOnACopyOfObjects) {
  S3Server server;
  if (!server.runs()) GTEST_SKIP() << "botocore is not installed (package python3-botocore)";
  server.put("tables", "t/train.csv", "a,b,kind\n1,2,x\n3,4,y\n5,7,x\n2,8,y\n");
  server.put("tables", "t/test.csv", "a,b,kind\n1,3,x\n");
  const Job job = parse_job(R"(
[network]
layers = [{type = "linear", features = 2}, {type = "softmax"}]
[data]
source = "csv"
path = "s3://tables/t"
features = 2
[training]
max_epochs = 2
mini_batch_size = 2
)",
                            "tables.toml");
  EXPECT_EQ(train_job(job, {.write_run = false}).iterations, 4);
}

TEST(ImageJob, TrainsWithTheSameBitsOnAnyThreadsAndWorkers) {
  const ImageFolder folder;
  write_images(folder, 4);
  Job job = image_job(folder);
  job.threads = 1;
  const auto one = train_job(job, {.write_run = false});
  EXPECT_EQ(one.iterations, 6);
  job.threads = 2, job.workers = 2;
  EXPECT_EQ(train_job(job, {.write_run = false}).fingerprint, one.fingerprint);
  for (const int threads : {0, 1, 2, 5}) {
    job.training.loader_threads = threads;
    EXPECT_EQ(train_job(job, {.write_run = false}).fingerprint, one.fingerprint) << threads;
  }
  job.data.transforms = {"random-crop"};
  EXPECT_NE(train_job(job, {.write_run = false}).fingerprint, one.fingerprint);
  check_job(job);
}

TEST(ImageJob, TakesTheClassesInTurn) {
  const ImageFolder folder;
  write_images(folder, 4);
  Job job = image_job(folder);
  job.data.train_samples = 6;
  const auto data = load_job_data(job, make_job_network(job));
  std::vector<int32_t> labels;
  for (int64_t i = 0; i < data.train.size(); ++i) labels.push_back(data.train.get(i)[1].item<int32_t>());
  EXPECT_EQ(labels, (std::vector<int32_t>{0, 1, 2, 3, 0, 1}));
}

// What is the same for every set is done to the test set; what is drawn is not.
TEST(ImageJob, NormalizesTestSetsToo) {
  const ImageFolder folder;
  write_images(folder, 2);
  Job job = image_job(folder);
  const auto plain = load_job_data(job, make_job_network(job));
  job.data.transforms = {"random-crop", "normalize"};
  job.data.options.set("normalize_deviation", 0.5);
  const auto data = load_job_data(job, make_job_network(job));
  const auto before = plain.test.get(0)[0].to_vector<float>(), after = data.test.get(0)[0].to_vector<float>();
  for (size_t i = 0; i < before.size(); ++i) ASSERT_EQ(after[i], before[i] / 0.5f);
}

TEST(ImageJob, FitsImagesOfOtherSizes) {
  const ImageFolder folder;
  write_images(folder, 2, 48);
  Job job = image_job(folder);
  EXPECT_EQ(
      job_refusal(job),
      "error[RT0341]: the image \"" + folder.at("train/class_00/0.jpg") +
          "\" has the wrong size\n  got:      48 x 48 pixels (height x width)\n  expected: 32 x 32 pixels (height x "
          "width)\n"
          "  help:     set fit to resize or center_crop (in a job data.image_fit = \"resize\" or \"center-crop\")");
  for (const std::string fit : {"resize", "center-crop"}) {
    job.data.options.set("image_fit", fit);
    EXPECT_EQ(train_job(job, {.write_run = false}).iterations, 2);
  }
  // Sizes that the job does not say are those of the files.
  job = image_job(folder);
  job.data.options.set("image_height", int64_t{0}), job.data.options.set("image_width", int64_t{0});
  EXPECT_EQ(job_refusal(job),
            "error[RT0423]: the training set has samples that network \"cifar10\" does not read\n  where:    " +
                folder.at("train") + "\n  got:      samples of [48,48,3]\n  expected: samples of [32,32,3]");
}

// All in one archive, plain and compressed, and each set in one of its own.
void write_archives(const ImageFolder& folder, const ImageFolder& packed) {
  std::vector<TarTestMember> all;
  std::map<std::string, std::vector<TarTestMember>> sets;
  for (const auto& entry : std::filesystem::recursive_directory_iterator(folder.path())) {
    if (!entry.is_regular_file()) continue;
    const std::string name = entry.path().lexically_relative(folder.path()).string();
    const std::string bytes = read_file(entry.path(), "image", 1'000'000);
    all.push_back({name, bytes});
    sets[name.substr(0, name.find('/'))].push_back({name.substr(name.find('/') + 1), bytes});
  }
  packed.write("all.tar", tar_of(all));
  packed.write("two/train.tar", tar_of(sets["train"]));
  packed.write("two/test.tgz", gzip(tar_of(sets["test"])));
  packed.write("all.tzst", zstd(tar_of(all)));
}

// In one archive, in two, and compressed: the fingerprint is that of the folder.
TEST(ImageJob, TrainsOnArchives) {
  const ImageFolder folder, packed;
  write_images(folder, 2);
  write_archives(folder, packed);
  const std::string wanted = train_job(image_job(folder), {.write_run = false}).fingerprint;
  for (const std::string path : {"all.tar", "all.tzst", "two"}) {
    Job job = image_job(folder);
    job.data.path = packed.at(path);
    EXPECT_EQ(train_job(job, {.write_run = false}).fingerprint, wanted) << path;
  }
  Job job = image_job(folder);
  job.data.path = packed.at("al.tar");
  EXPECT_EQ(job_refusal(job), "error[RT0501]: data archive \"" + packed.at("al.tar") +
                                  "\" does not exist\n  help:     did you mean \"" + packed.at("all.tar") + "\"?");
}

// The same archives in a bucket, copied through answers that fail; nothing is copied twice.
TEST(ImageJob, TrainsOnArchivesInObjectStorage) {
  const S3Server server;
  if (!server.runs()) GTEST_SKIP() << "botocore is not installed (package python3-botocore)";
  const ImageFolder folder, packed, runs;
  write_images(folder, 2);
  write_archives(folder, packed);
  packed.write("broken.tar.gz", gzip(tar_of({})).substr(0, 15));
  packed.write("packed.tar.xz", std::string("\xfd"
                                            "7zXZ\0",
                                            6) +
                                    std::string(2000, 'x'));
  server.tell("load", "archives in/ " + packed.path().string());
  server.faults(R"([{"match": "GET /archives/in/all.t", "truncate": true}, {"match": "two/test", "status": 503}])");
  Job job = image_job(folder);
  const std::string wanted = train_job(job, {.write_run = false}).fingerprint;
  for (const std::string path : {"all.tar", "all.tzst", "two"}) {
    job.data.path = "s3://archives/in/" + path;
    EXPECT_EQ(train_job(job, {.write_run = false}).fingerprint, wanted) << path;
  }
  server.tell("seen");
  const auto run = train_job(job, {.out = runs / "run"}).run_dir;
  EXPECT_EQ(server.requests("GET /archives/in/"), 0) << "the copies are there";
  const std::string data = read_file(run / "data.jsonl", "test", 1 << 20);
  EXPECT_TRUE(says(data, R"("object":"s3://archives/in/two/train.tar","tag":"\")")) << data;
  const auto columns = [](const std::string& csv) { return csv.substr(csv.rfind(".jpg")); };
  const std::string here = predict_run(run, packed.at("two/test.tgz")).csv;
  const std::string there = predict_run(run, "s3://archives/in/two/test.tgz").csv;
  EXPECT_TRUE(says(there, "s3://archives/in/two/test.tgz/class_01/1.jpg"));
  EXPECT_EQ(columns(here), columns(there));
  const auto refusal = [&](const std::string& path) {
    job.data.path = "s3://archives/in/" + path;
    return job_refusal(job);
  };
  EXPECT_TRUE(says(refusal("broken.tar.gz"), "the archive \"s3://archives/in/broken.tar.gz\" is damaged"));
  EXPECT_TRUE(says(refusal("packed.tar.xz"), "the archive \"s3://archives/in/packed.tar.xz\" is compressed by xz"));
  EXPECT_TRUE(says(refusal("all.tra"), "there is no \"in/all.tra/train\" in the bucket \"s3://archives\""));
}

// classes.json of the run says what the folders of the test set are.
TEST(ImageJob, IsTestedWithoutItsTrainingSet) {
  const ImageFolder folder;
  write_images(folder, 4);
  const TemporaryFolder runs;
  const auto trained = train_job(image_job(folder), {.out = runs / "run"});
  const auto before = test_run(trained.run_dir, {.classes = true});
  std::filesystem::remove_all(folder.path() / "train");
  std::filesystem::remove_all(folder.path() / "test" / "class_01");
  const auto after = test_run(trained.run_dir, {.classes = true});
  EXPECT_EQ(before.samples, 12);
  EXPECT_EQ(after.samples, 9);
  ASSERT_EQ(after.classes.size(), 1u);
  EXPECT_EQ(after.classes[0].names, before.classes[0].names);
  folder.write("test/class_9/1.jpg", jpeg_of(std::vector<uint8_t>(32 * 32 * 3), 32, 32, 3));
  EXPECT_TRUE(error_of([&] { test_run(trained.run_dir); }).find("class_9") != std::string::npos);
}

TEST(ImageJob, RefusesFoldersThatDoNotFit) {
  const ImageFolder folder;
  EXPECT_TRUE(says(job_refusal(image_job(folder)), "image folder \"" + folder.at("train") + "\" does not exist"));
  write_images(folder, 11);
  EXPECT_EQ(job_refusal(image_job(folder)),
            "error[RT0423]: the training set has 11 classes\n  where:    " + folder.at("train") +
                "\n  expected: at most 10, the scores of output \"class\" of network \"cifar10\""
                "\n  help:     let the last layer of that output make 11 of them, or take classes out");
  std::filesystem::remove_all(folder.path() / "train/class_10");
  EXPECT_TRUE(says(job_refusal(image_job(folder)), "\" is of no known class"));
  Job job = image_job(folder);
  job.network.name = "digits", job.network.heads = {"class"};
  EXPECT_TRUE(says(error_of([&] { check_job(job); }), "network \"digits\" cannot train on data source \"images\""));
  job.data.path = "";
  EXPECT_TRUE(says(error_of([&] { check_job(job); }),
                   "the folder of train/CLASS and test/CLASS, or CLASS alone, folders of images"));
}

// A run predicts files as it was tested on them: one, a folder, wildcards.
TEST(ImageJob, PredictsFilesAndFolders) {
  const ImageFolder folder, runs;
  write_images(folder, 2);
  const auto run = runs.path() / "run";
  train_job(image_job(folder), {.out = run});
  const auto rows = [&](const std::string& input) {
    std::vector<std::string> lines;
    std::istringstream csv(predict_run(run, input).csv);
    for (std::string line; std::getline(csv, line);) lines.push_back(line);
    return lines;
  };
  const auto all = rows(folder.at("test"));
  ASSERT_EQ(all.size(), 7u);
  EXPECT_TRUE(all[0].starts_with("index,file,class,class_name,score_class_00,score_class_01,")) << all[0];
  EXPECT_TRUE(all[1].starts_with("0," + folder.at("test/class_00/0.jpg") + ",")) << all[1];
  EXPECT_TRUE(all[4].starts_with("3," + folder.at("test/class_01/1.jpg") + ",")) << all[4];
  const auto after = [](const std::string& line) { return line.substr(line.find(',')); };
  EXPECT_EQ(after(rows(folder.at("test/class_01/1.jpg")).at(1)), after(all[4])) << "alone as in a batch";
  EXPECT_EQ(after(rows(folder.at("test/class_01/*.jpg")).at(1)), after(all[4]));
  folder.write("quoted/a, \"b\".jpg", jpeg_of(std::vector<uint8_t>(32 * 32 * 3, 9), 32, 32, 3));
  EXPECT_TRUE(rows(folder.at("quoted")).at(1).find("a, \"\"b\"\".jpg\",") != std::string::npos);
  folder.write("large.jpg", jpeg_of(std::vector<uint8_t>(40 * 40 * 3, 9), 40, 40, 3));
  EXPECT_TRUE(says(error_of([&] { predict_run(run, folder.at("large.jpg")); }), "large.jpg\" has the wrong size"));
  EXPECT_TRUE(says(error_of([&] { predict_run(run, folder.at("nothing")); }), "does not exist"));
}

// What a file holds decides, not its name; of folders and wildcards names in either case are taken.
TEST(ImageJob, PredictsFilesOfAnyName) {
  const ImageFolder folder, runs;
  write_images(folder, 2);
  const auto run = runs.path() / "run";
  train_job(image_job(folder), {.out = run});
  const std::string bytes = read_file(folder.path() / "test/class_01/1.jpg", "image", 1'000'000);
  const std::string row = predict_run(run, folder.at("test/class_01/1.jpg")).csv;
  const std::string expected = row.substr(row.rfind(".jpg,") + 5);
  for (const std::string name : {"PHOTO.JPG", "shot", "scan.dat", "sub/PHOTO.JPG"}) {
    folder.write(name, bytes);
    const std::string csv = predict_run(run, folder.at(name)).csv;
    EXPECT_TRUE(csv.ends_with("0," + folder.at(name) + "," + expected)) << csv;
  }
  for (const std::string input : {"sub", "sub/*", "sub/*.JPG"})
    EXPECT_TRUE(predict_run(run, folder.at(input)).csv.ends_with("PHOTO.JPG," + expected)) << input;
  folder.write("text.Jpg", "no image");
  EXPECT_TRUE(
      says(error_of([&] { predict_run(run, folder.at("text.Jpg")); }), "text.Jpg\" is neither a JPEG nor a PNG"));
}

}  // namespace
}  // namespace retrace
