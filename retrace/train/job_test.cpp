#include "retrace/train/job.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "retrace/base/error.h"
#include "retrace/base/file.h"
#include "retrace/tensor/fingerprint.h"
#include "retrace/train/job_data.h"
#include "retrace/train/training_step.h"
#include "tests/error_testing.h"
#include "tests/temporary_folder.h"

namespace retrace {
namespace {

// The text of the error for a job file, "" if it is accepted.
std::string refusal(const std::string& text, const std::vector<JobOverride>& overrides = {}) {
  try {
    parse_job(text, "x.toml", overrides);
  } catch (const Error& error) {
    EXPECT_EQ(error.kind(), ErrorKind::usage);
    return error.what();
  }
  return "";
}

std::string with_network(const std::string& rest) { return "[network]\nname = \"digits\"\n" + rest; }

void expect_refusal(const std::string& text, const std::vector<std::string>& parts) {
  const std::string found = refusal(text);
  for (const auto& part : parts) EXPECT_NE(found.find(part), std::string::npos) << text << "\n" << found;
}

TEST(Job, SaysThatAFileIsUtf16) {
  const std::string wide("\xff\xfe[\0d\0]\0", 8);
  EXPECT_TRUE(says(error_of([&] { parse_job(wide, "x.toml"); }), "save it as UTF-8"));
}

// A folder in the place of a job file is one of data, of a run, or that for which a job was written.
TEST(Job, SaysWhatToDoWithAFolder) {
  const TemporaryFolder folder;
  const auto data = folder.path() / "cats", run = folder.path() / "run";
  std::filesystem::create_directories(data), std::filesystem::create_directories(run);
  write_file_whole(run / "job.toml", "seed = 1");
  const auto text = [](const std::filesystem::path& path) { return error_of([&] { read_job(path); }); };
  EXPECT_TRUE(says(text(data), "error[RT0535]: job file \"" + data.string() + "\" is a folder"));
  EXPECT_TRUE(says(text(data), "retrace init my.toml --data " + data.string()));
  EXPECT_TRUE(says(text(run), "retrace train --resume " + run.string()));
  write_file_whole(data.string() + ".toml", "seed = 1");
  EXPECT_TRUE(says(text(data), "did you mean \"" + data.string() + ".toml\"?"));
}

TEST(Job, ShippedJobsAreValidAndReadBackEqual) {
  for (const char* file :
       {"jobs/digits.toml", "jobs/mnist.toml", "jobs/layers.toml", "jobs/vit.toml", "tests/golden/1/digits.toml",
        "tests/golden/1/peaks.toml", "tests/golden/1/autoencoder.toml", "tests/golden/1/cifar10.toml"}) {
    const Job job = read_job(std::filesystem::path(RETRACE_SOURCE_DIR) / file);
    const std::string text = job_text(job);
    EXPECT_EQ(job_text(parse_job(text, "again.toml")), text) << file;
    EXPECT_NO_THROW(check_job(job)) << file;
  }
}

TEST(Job, DigitsJobIsTheOneOfTheReadme) {
  const Job job = read_job(std::filesystem::path(RETRACE_SOURCE_DIR) / "jobs/digits.toml");
  EXPECT_EQ(
      job_text(job),
      "name = \"digits\"\nseed = 1\ndevice = \"auto\"\nworkers = 1\nthreads = 0\n"
      "\n[network]\nname = \"digits\"\nwidth = 16\nheads = [\"class\", \"angle\"]\n"
      "initial_weights = \"\"\n\n[data]\nsource = \"digits\"\ntrain_samples = 0\ntest_samples = 0\ntest_share = "
      "0.0\ntransforms = []\n"
      "\n[training]\nsolver = \"adam\"\nmax_epochs = 20\nmax_iterations = 0\nmini_batch_size = 32\nshards = "
      "1\naccumulate = 1\n"
      "initial_learn_rate = 0.001\nschedule = \"none\"\nl2_regularization = 0.0\n"
      "gradient_threshold = 0.0\ngradient_threshold_method = \"l2norm\"\n"
      "epsilon = 1e-08\ngradient_decay = 0.9\nsquared_gradient_decay = 0.999\n"
      "average_decay = 0.0\nshuffle = \"every-epoch\"\npartial_mini_batch = \"discard\"\nbuckets = []\nacceleration = "
      "\"accelerated\"\nmode = \"reproducible\"\n"
      "output_network = \"last-iteration\"\nbatch_norm_statistics = \"moving\"\n"
      "checkpoint_iterations = 0\ncheckpoint_epochs = 0\ncheckpoint_seconds = 60.0\ncheckpoints_kept = "
      "2\nsnapshot_iterations = 0\n"
      "fingerprint_iterations = 100\n"
      "metrics = []\ntimeout = 60.0\n"
      "\n[validation]\ndata = \"test\"\nfrequency = 1\nunit = \"epochs\"\npatience = 0\nobjective = \"loss\"\n");
}

TEST(Job, DefaultsFollowNetworkAndSolver) {
  const Job job = parse_job("[network]\nname='cifar10'\n[training]\nsolver='sgdm'", "some folder/my job!.toml");
  EXPECT_EQ(job.name, "my-job-");
  EXPECT_EQ(job.network.width, 32);
  EXPECT_EQ(job.data.source, "cifar10-synthetic");
  EXPECT_EQ(job.training.initial_learn_rate, 0.01);
  EXPECT_EQ(parse_job("network.name='peaks'", "x.toml").network.width, 20);
  EXPECT_NO_THROW(check_job(Job{}));
}

// A job made in code is the one that a file with the same words gives.
TEST(Job, HasTheSameDefaultsInCodeAndInAFile) {
  for (const char* network : {"digits", "peaks", "autoencoder", "cifar10"})
    for (const char* solver : {"adam", "sgdm"}) {
      Job job;
      job.network.name = network;
      job.training.solver = solver;
      const Job read =
          parse_job(fmt::format("[network]\nname='{}'\n[training]\nsolver='{}'", network, solver), "job.toml");
      EXPECT_EQ(job_text(job), job_text(read));
      EXPECT_NO_THROW(check_job(job));
      EXPECT_EQ(fingerprint(make_job_network(job).parameters), fingerprint(make_job_network(read).parameters))
          << network;
      EXPECT_EQ(learn_rate(job.training)({}), learn_rate(read.training)({})) << solver;
      EXPECT_EQ(read.training.l2_regularization, 0);
    }
  Job job;
  job.network = {.name = "cifar10", .width = 24, .heads = {"class"}};
  job.training.initial_learn_rate = 0.5;
  EXPECT_EQ(resolved(job).network.width, 24);
  EXPECT_EQ(resolved(job).training.initial_learn_rate, 0.5);
  job.network.width = 0;
  EXPECT_THROW(check_job(job), Error);
}

// So many points of peaks lie on a grid over the whole surface.
TEST(Job, PeaksAreSampledOverTheWholeSurface) {
  const Job job = parse_job(
      "network.name='peaks'\ndata.train_samples=16\ndata.test_samples=9\ntraining.mini_batch_size=8", "x.toml");
  const JobData data = load_job_data(job, make_job_network(job));
  ASSERT_EQ(data.train.size(), 16);
  ASSERT_EQ(data.test.size(), 9);
  EXPECT_EQ(data.train.get(0)[0].to_vector<float>(), (std::vector<float>{-3, -3}));
  EXPECT_EQ(data.train.get(15)[0].to_vector<float>(), (std::vector<float>{3, 3}));
  EXPECT_EQ(data.test.get(0)[0].to_vector<float>(), (std::vector<float>{-2, -2}));
  EXPECT_EQ(data.test.get(8)[0].to_vector<float>(), (std::vector<float>{2, 2}));
}

TEST(Job, OverridesWinInOrder) {
  const Job job = parse_job(with_network("[training]\nmax_epochs = 3"), "x.toml",
                            {parse_override("training.max_epochs=4"),
                             parse_override("training.max_epochs=5"),
                             parse_override("network.heads=class"),
                             parse_override("validation.data=none"),
                             parse_override("training.initial_learn_rate=2e-4"),
                             parse_override("training.schedule=\"linear\""),
                             {"seed", "7", "--seed"}});
  EXPECT_EQ(job.training.max_epochs, 5);
  EXPECT_EQ(job.network.heads, std::vector<std::string>{"class"});
  EXPECT_EQ(job.validation_data, "none");
  EXPECT_EQ(job.training.initial_learn_rate, 2e-4);
  EXPECT_EQ(job.training.schedule, "linear");
  EXPECT_EQ(job.seed, 7u);
  const Job both = parse_job(with_network(""), "x.toml", {parse_override("network.heads=[\"class\", 'angle']")});
  EXPECT_EQ(both.network.heads.size(), 2u);
  EXPECT_EQ(parse_override("data.path=a=b").value, "a=b");
  EXPECT_THROW(parse_override("training.max_epochs"), Error);
  EXPECT_THROW(parse_override("=3"), Error);
}

// What another choice replaces goes with it; what both choices have stays, and what the override says wins.
TEST(Job, AnOverrideOfAChoiceDropsTheOptionsOfTheOldOne) {
  const std::string whole = job_text(parse_job(with_network("[training]\nsolver = 'adamw'\nepsilon = 0.25\n"
                                                            "schedule = 'piecewise'\ndrop_period = 3\n"
                                                            "[data]\ntransforms = ['random-crop']\n"),
                                               "x.toml"));
  const auto with = [&](const std::vector<std::string>& settings) {
    std::vector<JobOverride> overrides;
    for (const auto& setting : settings) overrides.push_back(parse_override(setting));
    return parse_job(whole, "run/job.toml", overrides);
  };
  const auto has = [](const Job& job, const std::string& key) {
    return job_text(job).find("\n" + key + " = ") != std::string::npos;
  };
  const Job sgdm = with({"training.solver=sgdm", "training.momentum=0.5"});
  EXPECT_EQ(sgdm.training.options.number("momentum"), 0.5);
  EXPECT_EQ(sgdm.training.initial_learn_rate, 0.001) << "a key of every solver stays";
  for (const std::string key : {"gradient_decay", "epsilon", "weight_decay"}) EXPECT_FALSE(has(sgdm, key)) << key;
  EXPECT_TRUE(has(sgdm, "drop_period"));
  const Job rmsprop = with({"training.solver=rmsprop"});
  EXPECT_EQ(rmsprop.training.options.number("epsilon"), 0.25) << "an option that both have stays";
  EXPECT_EQ(rmsprop.training.options.number("squared_gradient_decay"), 0.999);
  EXPECT_FALSE(has(rmsprop, "weight_decay"));
  EXPECT_FALSE(has(with({"training.schedule=none"}), "drop_period"));
  EXPECT_FALSE(has(with({"data.transforms=[]"}), "crop_padding"));
  const Job peaks = with({"network.name=peaks", "data.source=peaks"});
  EXPECT_FALSE(has(peaks, "heads"));
  EXPECT_NO_THROW(check_job(peaks));
  EXPECT_EQ(job_text(with({})), whole);
  // What an override itself says must have a meaning, and so must what had none in the file.
  const auto refused = [](const std::string& text, const std::vector<JobOverride>& overrides, const char* expected) {
    const std::string found = refusal(text, overrides);
    EXPECT_NE(found.find(expected), std::string::npos) << found;
  };
  refused(
      whole, {parse_override("training.solver=sgdm"), parse_override("training.weight_decay=0.5")},
      "training.weight_decay has a meaning only with training.solver = \"adamw\" or \"lamb\" or \"lion\" or \"muon\"\n"
      "  where:    --set training.weight_decay=0.5\n");
  refused(with_network("[training]\nmomentum = 0.5"), {parse_override("training.solver=rmsprop")},
          "training.momentum has a meaning only with training.solver = \"muon\" or \"sgdm\"\n  where:    x.toml:4:1\n");
}

TEST(Job, OverrideMistakesNameTheirPlace) {
  const auto with = [](const std::string& text) { return refusal(with_network(""), {parse_override(text)}); };
  EXPECT_NE(with("training.max_epoch=2")
                .find("unknown key \"training.max_epoch\"\n  where:    --set training.max_epoch=2\n"
                      "  help:     did you mean \"training.max_epochs\"?"),
            std::string::npos);
  EXPECT_NE(with("training.max_epochs=2.5").find("must be a whole number"), std::string::npos);
  EXPECT_NE(with("training.max_epochs=").find("must be a whole number"), std::string::npos);
  EXPECT_NE(with("training.max_epochs= 2").find("must be a whole number"), std::string::npos);
  EXPECT_NE(with("training.max_epochs=99999999999999999999").find("out of range"), std::string::npos);
  EXPECT_NE(with("seed=18446744073709551615").find("expected: from 0 to 9007199254740991"), std::string::npos);
  EXPECT_NE(with("seed=-18446744073709551615").find("out of range"), std::string::npos);
  EXPECT_NE(with("training.initial_learn_rate=1e309").find("out of range"), std::string::npos);
  EXPECT_NE(with("training.initial_learn_rate=1e-400").find("out of range"), std::string::npos);
  EXPECT_NE(with("training.l2_regularization=1e-400").find("out of range"), std::string::npos);
  EXPECT_NE(with("seed=1.0").find("write it without a point"), std::string::npos);
  EXPECT_EQ(with("seed=1.5").find("write it without a point"), std::string::npos);
  EXPECT_NE(with("TRAINING.MAX_EPOCHS=2").find("did you mean \"training.max_epochs\"?"), std::string::npos);
  EXPECT_NE(with("training.zzzzz=2").find("keys of [training]: solver"), std::string::npos);
  EXPECT_NE(with("training.initial_learn_rate=nan").find("out of range"), std::string::npos);
  EXPECT_NE(with("validation.data=train").find("validation.data has no choice \"train\""), std::string::npos);
  EXPECT_NE(with("validation.frequency=0").find("out of range"), std::string::npos);
  EXPECT_NE(with("training.validation=true").find("unknown key \"training.validation\""), std::string::npos);
  EXPECT_NE(with("training=5").find("must be a section"), std::string::npos);
  EXPECT_NE(with("network.heads=").find("network.heads is empty"), std::string::npos);
  EXPECT_NE(refusal(with_network(""), {{"threads", "-1", "--threads"}})
                .find("threads is out of range\n  where:    --threads\n"
                      "  got:      \"-1\"\n  expected: from 0 to 256"),
            std::string::npos);
}

TEST(Job, AllMistakesAtOnceInOrder) {
  const std::string found = refusal(
      "sed = 1\n[network]\nname = \"digit\"\n[training]\nmax_epoch = 3\nsolver = 5\n"
      "mini_batch_size = 0\n[trainig]\nmax_epochs = 1\nmomentum = 2\n",
      {parse_override("data.pth=x")});
  const char* parts[] = {
      "unknown key \"sed\"\n  where:    x.toml:1:1\n  help:     did you mean \"seed\"?",
      "unknown key \"training.max_epoch\"\n  where:    x.toml:5:1",
      "training.solver must be a text\n  where:    x.toml:6:1\n  got:      5",
      "unknown section \"trainig\"\n  where:    x.toml:8:",
      "did you mean [training]?",
      "unknown key \"data.pth\"\n  where:    --set data.pth=x\n  help:     did you mean \"data.path\"?",
      "network.name has no choice \"digit\"\n  where:    x.toml:3:1\n  expected: autoencoder, cifar10, digits, peaks\n"
      "  help:     did you mean \"digits\"?",
      "training.mini_batch_size is out of range\n  where:    x.toml:7:1\n  got:      0\n  expected: from 1 to "
      "1000000000"};
  size_t from = 0;
  for (const char* part : parts) {
    const size_t at = found.find(part, from);
    ASSERT_NE(at, std::string::npos) << part << "\n" << found;
    from = at;
  }
  EXPECT_EQ(found.find("trainig.max_epochs"), std::string::npos) << "one mistake, one message";
}

TEST(Job, NamesOfOtherFrameworksAndFilesOfExperimentsAreKnown) {
  expect_refusal(with_network("[training]\nepochs = 3\n"), {"did you mean \"training.max_epochs\"?"});
  expect_refusal(with_network("[training]\nlr = 0.1\n"), {"did you mean \"training.initial_learn_rate\"?"});
  expect_refusal(with_network("[training]\nloss = \"mse\"\n"),
                 {"outputs have it: network.outputs = [{name = \"the target\", loss = ...}]"});
  expect_refusal(with_network("[training]\nseed = 1\n"), {"did you mean \"seed\", above the first [section]?"});
  expect_refusal("job = \"x.toml\"\n" + with_network(""), {"given to retrace sweep, not to retrace train"});
}

TEST(Job, UnknownNetworkListsAll) {
  expect_refusal("[network]\nname = \"resnet\"",
                 {"network.name has no choice \"resnet\"", "autoencoder, cifar10, digits, peaks"});
  expect_refusal("", {"network.name is missing", "autoencoder, cifar10, digits, peaks"});
}

TEST(Job, KeysInTheWrongPlaceAreFound) {
  expect_refusal("max_epochs = 3\n[network]\nname='digits'",
                 {"unknown key \"max_epochs\"", "did you mean \"training.max_epochs\"?"});
  expect_refusal(with_network("[data]\nzzzzzzzzzzzz = 1"),
                 {"keys of [data]: source, path, train_samples, test_samples, test_share"});
  expect_refusal(with_network("[training.adam]\nepsilon = 1"), {"unknown section \"training.adam\""});
  expect_refusal("network = 'digits'", {"network must be a section: [network]"});
  expect_refusal("[[network]]\nname = 'digits'", {"network must be a section: [network]"});
  expect_refusal("[seed]\na = 1\n[network]\nname='digits'", {"seed must be a whole number"});
}

TEST(Job, WrongTypesAndRanges) {
  const auto training = [](const std::string& line) { return with_network("[training]\n" + line); };
  expect_refusal(training("max_epochs = \"3\""), {"training.max_epochs must be a whole number", "got:      \"3\""});
  expect_refusal(training("max_epochs = 3.0"), {"must be a whole number", "got:      3.0", "write it without a point"});
  expect_refusal(training("max_epochs = -3"), {"x.toml:4:1", "got:      -3"});
  expect_refusal(training("max_epochs = 9223372036854775807"), {"out of range"});
  expect_refusal(training("max_epochs = 1979-05-27"), {"a date or time"});
  expect_refusal(training("initial_learn_rate = nan"), {"out of range", "above 0 to 1000000"});
  expect_refusal(training("initial_learn_rate = inf"), {"out of range"});
  expect_refusal(training("initial_learn_rate = 0"), {"out of range"});
  expect_refusal(with_network("[validation]\ndata = true"), {"must be a text"});
  for (const char* timeout : {"0", "-1", "nan", "inf", "1e10"})
    expect_refusal(training(std::string("timeout = ") + timeout), {"training.timeout"});
  expect_refusal(training("shuffle = 'every_epoch'"), {"did you mean \"every-epoch\"?"});
  expect_refusal("seed = -1\n" + with_network(""), {"seed is out of range"});
  expect_refusal("seed = 9007199254740992\n" + with_network(""), {"seed is out of range"});
  expect_refusal("name = '../x'\n" + with_network(""), {"name cannot name a folder"});
  expect_refusal("device = 'cuda:x'\n" + with_network(""),
                 {"device has no choice \"cuda:x\"", "cpu, cuda, cuda:N, cuda:N,M, auto"});
  expect_refusal("[network]\nname='digits'\nheads=['class','class']", {"\"class\" twice"});
  expect_refusal("[network]\nname='digits'\nheads=['class',3]", {"must be a list of texts"});
  EXPECT_EQ(parse_job(training("initial_learn_rate = 1"), "x.toml").training.initial_learn_rate, 1.0);
}

TEST(Job, ListsOfNumbers) {
  const auto mean = [](const std::string& value) {
    return with_network("[data]\ntransforms = ['normalize']\nnormalize_mean = " + value);
  };
  const auto read = [&](const std::string& value) {
    const Job job = parse_job(mean(value), "x.toml");
    EXPECT_EQ(job_text(parse_job(job_text(job), "again.toml")), job_text(job));
    return job.data.options.numbers("normalize_mean");
  };
  using Numbers = std::vector<double>;
  EXPECT_EQ(read("0.5"), Numbers{0.5});
  EXPECT_EQ(read("2"), Numbers{2});
  EXPECT_EQ(read("[0.49, 0.48, 1]"), (Numbers{0.49, 0.48, 1}));
  EXPECT_EQ(parse_job(mean("1"), "x.toml", {parse_override("data.normalize_mean=[0.25, -3,1e-3]")})
                .data.options.numbers("normalize_mean"),
            (Numbers{0.25, -3, 0.001}));
  EXPECT_EQ(
      parse_job(mean("1"), "x.toml", {parse_override("data.normalize_mean=7")}).data.options.numbers("normalize_mean"),
      Numbers{7});
  EXPECT_NE(job_text(parse_job(mean("[1, 2.5]"), "x.toml")).find("normalize_mean = [1.0, 2.5]\n"), std::string::npos);
  EXPECT_NE(job_text(parse_job(mean("[1]"), "x.toml")).find("normalize_mean = 1.0\n"), std::string::npos);
  EXPECT_EQ(refusal(mean("[0.5, 'x']")),
            "error[RT0413]: data.normalize_mean must be a number or a list of numbers\n  where:    x.toml:5:1\n"
            "  got:      a list with items that are neither all texts nor all numbers");
  EXPECT_EQ(refusal(mean("['x']")),
            "error[RT0413]: data.normalize_mean must be a number or a list of numbers\n  where:    x.toml:5:1\n"
            "  got:      [\"x\"]");
  EXPECT_EQ(refusal(mean("[]")),
            "error[RT0414]: data.normalize_mean is empty\n  where:    x.toml:5:1\n  got:      []\n"
            "  expected: a number, or some in a list");
  EXPECT_EQ(refusal(mean("[0.5, nan]")),
            "error[RT0414]: data.normalize_mean is out of range\n  where:    x.toml:5:1\n  got:      [0.5, nan]\n"
            "  expected: from -1000000 to 1000000");
  EXPECT_EQ(refusal(mean("1"), {parse_override("data.normalize_mean=[1,,2]")}),
            "error[RT0413]: data.normalize_mean must be a number or a list of numbers\n"
            "  where:    --set data.normalize_mean=[1,,2]\n  got:      \"[1,,2]\"");
}

TEST(Job, OptionsThatDoNotBelongTogether) {
  expect_refusal(with_network("[training]\nmomentum = 0.9"),
                 {"training.momentum has a meaning only with training.solver = \"muon\" or \"sgdm\"", "x.toml:4:1"});
  expect_refusal(with_network("[training]\nsolver='sgdm'\nepsilon = 0.9"),
                 {"only with training.solver = \"adagrad\" or \"adam\""});
  expect_refusal(with_network("[training]\ndrop_period = 9"), {"only with training.schedule = \"piecewise\""});
  expect_refusal("[network]\nname='peaks'\nheads=['class']", {"only with network.name = \"digits\""});
  expect_refusal(with_network("[data]\npath = 'x'"), {"only with data.source = ", "\"images\" or \"mnist\""});
  expect_refusal(with_network("[data]\nsource = 'peaks'"),
                 {"network \"digits\" cannot train on data source \"peaks\""});
  expect_refusal(with_network("[data]\nsource = 'mnist'"),
                 {"data source \"mnist\" has no targets for the output \"angle\"", "set network.heads = [\"class\"]",
                  "data.path is missing"});
  expect_refusal("[network]\nname='peaks'\n[data]\ntrain_samples = 1000", {"square number", "use 961"});
}

TEST(Job, SyntaxErrorsHaveAPlace) {
  expect_refusal("[network]\nname = digits", {"no valid TOML", "x.toml:2:"});
  expect_refusal("seed = 1\nseed = 2", {"no valid TOML", "x.toml:2:"});
  expect_refusal(std::string("seed = \0", 8), {"no valid TOML"});
  expect_refusal("name = \"\xff\"", {"no valid TOML"});
  expect_refusal("[?network]", {"no valid TOML", "x.toml:1:2"});
  expect_refusal("a = " + std::string(20, '['), {"no valid TOML"});
  EXPECT_NO_THROW(parse_job("\xef\xbb\xbf[network]\r\nname = \"digits\"\r\n", "x.toml"));
}

std::string repeated(const std::string& text, int count) {
  std::string out;
  for (int i = 0; i < count; ++i) out += text;
  return out;
}

TEST(Job, DepthIsRefusedBeforeItIsParsed) {
  for (const int parts : {40, 15'000, 190'000}) {
    const std::string key = repeated("a.", parts);
    for (const auto& text : {key + "a = 1", "[" + key + "a]\nx = 1", "[[" + key + "a]]", "x = {" + key + "a = 1}",
                             "# .\n" + repeated("a .", parts) + "a = 1", repeated("'a'.", parts) + "a = 1"})
      expect_refusal(text, {"the job file is too deep", "x.toml:"});
  }
  expect_refusal("a = " + std::string(100'000, '['), {"too deep", "brackets"});
  expect_refusal("a = " + repeated("{a=", 100'000), {"too deep", "brackets"});
  expect_refusal(repeated("a=1\n", 200'000), {"too long"});
  expect_refusal("a = [" + repeated("1,", 200'000) + "]", {"too long"});
}

TEST(Job, DotsAndBracketsInTextsAndCommentsDoNotCount) {
  const std::string much = repeated("a.[{", 200), three(3, '"'), single(3, '\'');
  for (const auto& path : {"\"" + much + "\"", "'" + much + "'", three + much + "\n\\\"\"" + much + "\"\"" + three,
                           single + much + "\n'" + much + "''" + single, "\"\\\\" + much + "\\\"" + much + "\""}) {
    const std::string text = "[network]\nname = 'digits'\nheads = ['class'] # " + much +
                             "\n[data]\nsource = 'mnist'\npath = " + path + " # " + much;
    EXPECT_NO_THROW(parse_job(text, "x.toml")) << text;
  }
  expect_refusal("\"training.max_epochs\" = 3\n" + with_network(""), {"unknown key \"\"training.max_epochs\"\""});
}

TEST(Job, ManyAndLongMistakesStayReadable) {
  std::string many;
  for (int i = 0; i < 80'000; ++i) many += "k" + std::to_string(i) + "=1\n";
  const std::string found = refusal(many + with_network(""));
  EXPECT_LT(found.size(), 10'000u);
  EXPECT_NE(found.find("79980 more mistakes are not shown"), std::string::npos) << found;
  EXPECT_LT(refusal(std::string(900'000, 'k') + " = 1").size(), 2000u);
}

TEST(Job, MoreShardsThanSamplesOfAMiniBatch) {
  expect_refusal(with_network("[training]\nmini_batch_size = 32\nshards = 33"),
                 {"training.shards is larger than a mini-batch", "x.toml:5:1", "training.mini_batch_size = 32"});
  EXPECT_NO_THROW(parse_job(with_network("[training]\nmini_batch_size = 32\nshards = 32"), "x.toml"));
}

TEST(Job, LargeAndMissingFiles) {
  EXPECT_THROW(parse_job(std::string(1'000'001, '#'), "x.toml"), Error);
  try {
    read_job(std::filesystem::path(RETRACE_SOURCE_DIR) / "jobs/digit.toml");
    FAIL();
  } catch (const Error& error) {
    EXPECT_EQ(error.kind(), ErrorKind::missing);
    EXPECT_NE(std::string(error.what()).find("jobs/digits.toml\"?"), std::string::npos) << error.what();
  }
}

TEST(Job, TextsSurviveQuoting) {
  Job job;
  job.network.heads = {"class"};
  job.data = {.source = "mnist", .path = "a \"b\" \\ c\n\x7f \xe2\x82\xac", .train_samples = 1, .test_samples = 2};
  EXPECT_EQ(parse_job(job_text(job), "x.toml").data.path, job.data.path);
  job.training.max_epochs = 0;
  EXPECT_THROW(check_job(job), Error);
}

}  // namespace
}  // namespace retrace
