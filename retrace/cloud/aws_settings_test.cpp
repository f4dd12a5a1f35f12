#include "retrace/cloud/aws_settings.h"

#include <gtest/gtest.h>

#include "retrace/base/file.h"
#include "tests/environment.h"
#include "tests/error_testing.h"
#include "tests/temporary_folder.h"

namespace retrace {
namespace {

// A home without keys.
class AwsSettingsTest : public testing::Test {
 protected:
  AwsSettingsTest() {
    for (const char* name : {"AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY", "AWS_SESSION_TOKEN", "AWS_PROFILE",
                             "AWS_DEFAULT_PROFILE", "AWS_REGION", "AWS_DEFAULT_REGION", "AWS_ENDPOINT_URL",
                             "AWS_ENDPOINT_URL_S3", "AWS_CA_BUNDLE", "AWS_CONFIG_FILE", "AWS_SHARED_CREDENTIALS_FILE"})
      set(name, "");
    set("HOME", home_.path().string());
    std::filesystem::create_directory(home_.path() / ".aws");
  }
  void set(const char* name, const std::string& value) { environment_.set(name, value); }
  void write(const char* name, const char* text) { write_file_whole(home_.path() / ".aws" / name, text); }
  std::string refusal() const { return error_of(aws_settings); }

  Environment environment_;
  TemporaryFolder home_;
};

TEST_F(AwsSettingsTest, VariablesComeFirst) {
  write("credentials", "[default]\naws_access_key_id = FILE\naws_secret_access_key = file\naws_session_token = old\n");
  set("AWS_ACCESS_KEY_ID", "KEY"), set("AWS_SECRET_ACCESS_KEY", "secret");
  set("AWS_DEFAULT_REGION", "eu-west-1");
  AwsSettings found = aws_settings();
  EXPECT_EQ(found.key_id + found.secret.reveal() + found.token.reveal(), "KEYsecret");
  EXPECT_EQ(found.region, "eu-west-1");
  EXPECT_EQ(found.endpoint, "");
  EXPECT_FALSE(found.path_style);
  set("AWS_REGION", "us-west-2"), set("AWS_SESSION_TOKEN", "token"), set("AWS_ENDPOINT_URL", "http://localhost:9000/");
  found = aws_settings();
  EXPECT_EQ(found.region + found.token.reveal() + found.endpoint, "us-west-2tokenhttp://localhost:9000");
  EXPECT_TRUE(found.path_style);
}

TEST_F(AwsSettingsTest, ProfilesAreInTwoFiles) {
  write("credentials",
        "# keys\n[default]\naws_access_key_id=A\naws_secret_access_key=a=b\n\n[ work ]\naws_access_key_id = W \n"
        "aws_secret_access_key = w\naws_session_token = t\n");
  write("config",
        "[default]\nregion = eu-north-1\n[profile work]\nregion=ap-south-1\nendpoint_url = https://store.test\ns3 =\n"
        "  addressing_style = virtual\n  max_queue_size = 7\noutput = json\n");
  EXPECT_EQ(aws_settings().key_id + aws_settings().secret.reveal() + aws_settings().region, "Aa=beu-north-1");
  set("AWS_PROFILE", "work");
  const AwsSettings found = aws_settings();
  EXPECT_EQ(found.key_id + found.secret.reveal() + found.token.reveal(), "Wwt");
  EXPECT_EQ(found.region + found.endpoint, "ap-south-1https://store.test");
  EXPECT_FALSE(found.path_style);
  set("AWS_PROFILE", "wrk");
  EXPECT_EQ(refusal(),
            "error[RT0683]: there is no AWS profile \"wrk\"\n"
            "  expected: a section of it in ~/.aws/credentials or ~/.aws/config\n"
            "  help:     set AWS_PROFILE to another one, or unset it");
}

TEST_F(AwsSettingsTest, WhatIsMissingIsNamedAndSecretsAreNot) {
  EXPECT_EQ(refusal(),
            "error[RT0682]: there are no keys for object storage\n"
            "  expected: AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY, or a profile with both in ~/.aws/credentials\n"
            "  help:     aws configure export-credentials --format env prints those of roles and of single sign-on");
  set("AWS_SECRET_ACCESS_KEY", "hidden");
  EXPECT_EQ(refusal(),
            "error[RT0682]: one half of the keys for object storage is not set\n"
            "  got:      AWS_SECRET_ACCESS_KEY alone\n"
            "  help:     set AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY, or none of them to use ~/.aws/credentials");
  set("AWS_SECRET_ACCESS_KEY", "");
  write("credentials", "[default]\naws_access_key_id = A\nhidden\n");
  EXPECT_EQ(refusal(), "error[RT0683]: a file of AWS profiles cannot be understood\n  where:    " +
                           (home_.path() / ".aws/credentials").string() + ":3\n  expected: [PROFILE] or NAME = VALUE");
  write("credentials", "[default]\naws_access_key_id = A\naws_secret_access_key = a\n");
  for (const char* url :
       {"localhost", "ftp://x", "https://", "https://user:hidden@host", "https://host/path", "https://a b"}) {
    set("AWS_ENDPOINT_URL_S3", url);
    EXPECT_NE(refusal(), "no error") << url;
    EXPECT_EQ(refusal().find("hidden"), std::string::npos);
  }
}

}  // namespace
}  // namespace retrace
