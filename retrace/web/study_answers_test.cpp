#include "retrace/web/study_answers.h"

#include <gtest/gtest.h>

#include "retrace/base/json_value.h"
#include "retrace/experiment/experiment.h"
#include "retrace/experiment/study.h"
#include "tests/temporary_folder.h"

namespace retrace {
namespace {

class StudyAnswersTest : public testing::Test {
 protected:
  void SetUp() override {
    try {
      Experiment experiment({.parameters = {{.name = "x", .low = -1, .high = 1}}, .trials = 6, .study = study()});
      experiment.run([](Trial& trial) { return trial.parameters().number("x"); });
    } catch (const Error& error) {
      if (error.kind() == ErrorKind::unavailable) GTEST_SKIP() << error.message();
      throw;
    }
  }
  std::filesystem::path study() const { return folder_.path() / "study"; }
  JsonValue table() {
    const WebResponse answer = answers_.table(study());
    EXPECT_EQ(answer.status, 200);
    return JsonValue::parse(answer.body).value_or(JsonValue());
  }

  TemporaryFolder folder_;
  StudyAnswers answers_;
};

TEST_F(StudyAnswersTest, TellTheTable) {
  const JsonValue all = table();
  ASSERT_TRUE(all.find("table"));
  EXPECT_EQ(all.find("table")->find("trials")->list()->size(), 6u);
  EXPECT_EQ(all.boolean_or("written", true), false);
  ASSERT_EQ(all.find("importance")->list()->size(), 1u);
  EXPECT_GT(all.find("importance")->list()->front().number_or("share", 0), 0.5);
  EXPECT_TRUE(answers_.csv(study()).body.starts_with("trial,state,"));
  EXPECT_EQ(answers_.best_job(study()).status, 200);
  EXPECT_EQ(answers_.best_job(folder_.path()).status, 404);
  EXPECT_NE(answers_.list({study()}).body.find("\"id\":1"), std::string::npos);
  EXPECT_THROW(answers_.table(folder_.path()), Error);
}

TEST_F(StudyAnswersTest, ChangeTrials) {
  EXPECT_EQ(answers_.change(study(), 2, "note", "a <b>note</b>").status, 200);
  EXPECT_EQ(table().find("table")->find("trials")->list()->at(1).string_or("note", ""), "a <b>note</b>");
  EXPECT_EQ(answers_.change(study(), 2, "note", "two\nlines").status, 400);
  EXPECT_EQ(answers_.change(study(), 2, "cancel", "").status, 409);
  EXPECT_EQ(answers_.change(study(), 9, "restart", "").status, 409);
  EXPECT_EQ(answers_.change(study(), 2, "remove", "").status, 404);
  EXPECT_EQ(answers_.change(study(), 2, "restart", "").status, 200);
  EXPECT_EQ(table().find("table")->find("trials")->list()->at(1).string_or("state", ""), "stopped");
}

}  // namespace
}  // namespace retrace
