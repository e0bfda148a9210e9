#include <fcntl.h>
#include <gmock/gmock.h>
#include <google/protobuf/util/message_differencer.h>
#include <gtest/gtest.h>
#include <sys/stat.h>

#include <fstream>
#include <string>

#include "absl/strings/str_cat.h"
#include "services/base/config/document.h"
#include "services/base/config/yaml.h"
#include "services/base/errors.h"
#include "tests/services/base/config/sample.h"

namespace tapedeck::services::config {
namespace {

using ::testing::HasSubstr;

constexpr char kAll[] = R"(# everything
listen: 127.0.0.1:7400
rails:
  - name: r0
    address: "10.0.0.1"
  - {name: r1, address: 10.0.1.1, port: 7600}
memory: 64MiB
grace: 1m
level: durable
on: true
ports: [1, 8]
rate: 1.5e9
labels: {site: north, "a b": 'x: y'}
path: /var/lib/deck
password: hunter2
nested:
  nested: {memory: 0}
)";

class ReaderTest : public ::testing::Test {
 protected:
  std::string FaultOf(const std::string& text) {
    const auto message = sample_.New();
    const auto places = ReadText("deck.yaml", text, *message);
    if (places.ok()) return "";
    EXPECT_EQ(ReasonOf(places.status()).value_or(ErrorReason{}).reason, "ARGUMENT_INVALID");
    return std::string(places.status().message());
  }

  const Sample sample_;
};

TEST_F(ReaderTest, ReadsEveryKindAndWritesTheSameAgain) {
  const auto message = sample_.New();
  const auto places = ReadText("deck.yaml", kAll, *message);
  ASSERT_TRUE(places.ok()) << places.status();
  EXPECT_EQ(PlaceText(places->Of("rails[1].address")), "deck.yaml:6: rails[1].address");
  EXPECT_FALSE(places->Has("device"));
  const std::string written = WriteYaml(*message);
  EXPECT_EQ(written.find("hunter2"), std::string::npos);
  EXPECT_THAT(written, HasSubstr("password: \"***\"\n"));
  EXPECT_THAT(written,
              HasSubstr("memory: \"64MiB\"\ngrace: \"1m\"\nlevel: \"durable\"\non: true\n"));
  const auto again = sample_.New();
  ASSERT_TRUE(ReadText("again.yaml", written, *again).ok()) << written;
  EXPECT_EQ(WriteYaml(*again), written);
}

TEST_F(ReaderTest, ReadsJson) {
  const auto yaml = sample_.New();
  const auto json = sample_.New();
  ASSERT_TRUE(ReadText("a", "rails:\n- name: \"a\\\\b\"\nmemory: 1024\n", *yaml).ok());
  ASSERT_TRUE(
      ReadText("b", "{\n\t\"rails\": [{\"name\": \"a\\\\b\"}], \"memory\": \"1KiB\"}", *json).ok());
  EXPECT_TRUE(google::protobuf::util::MessageDifferencer::Equals(*yaml, *json));
}

TEST_F(ReaderTest, TakesAnEmptyFile) {
  for (const char* text : {"", "# nothing\n", "---\n", "{}"}) EXPECT_EQ(FaultOf(text), "") << text;
}

struct Case {
  const char* text;
  const char* fault;
};

TEST_F(ReaderTest, AListOfOneMayStandWithoutBrackets) {
  for (const char* text : {"ports: 3\n", "ports: [3]\n"}) {
    const auto message = sample_.New();
    const auto places = ReadText("deck.yaml", text, *message);
    ASSERT_TRUE(places.ok()) << places.status();
    EXPECT_THAT(WriteYaml(*message), HasSubstr("\nports:\n  - 3\n")) << text;
    EXPECT_EQ(PlaceText(places->Of("ports[0]")), "deck.yaml:1: ports[0]");
  }
}

TEST_F(ReaderTest, SaysWhatIsWrongAndWhere) {
  const Case cases[] = {
      {"listen: a\nlistne: b\n", "deck.yaml:2: there is no \"listne\"; did you mean \"listen\"?"},
      {"rails:\n- name: r0\n  adress: b\n",
       "deck.yaml:3: rails[0]: there is no \"adress\"; did you mean \"address\"?"},
      {"rails:\n- name: r0\n- port: 65536\n",
       "deck.yaml:3: rails[1].port: \"65536\" is not a whole number from 0 to 65535"},
      {"rails: r0", "deck.yaml:1: rails: is a single value, and must be a list"},
      {"ports: 9", "deck.yaml:1: ports: \"9\" is not a whole number from 1 to 8"},
      {"ports: {a: 1}", "deck.yaml:1: ports: is a map, and must be a list"},
      {"rails: [r0]", "deck.yaml:1: rails[0]: is a single value, and must be a map of fields"},
      {"listen: [a]", "deck.yaml:1: listen: is a list, and must be a single value"},
      {"- a", "deck.yaml:1: is a list, and must be a map of fields"},
      {"labels: [a]", "deck.yaml:1: labels: is a list, and must be a map"},
      {"ports: [1, 9]", "deck.yaml:1: ports[1]: \"9\" is not a whole number from 1 to 8"},
      {"memory: 2GiB", "deck.yaml:1: memory: \"2GiB\" is not a size from 0 to 1GiB"},
      {"memory: lots", "deck.yaml:1: memory: \"lots\" is not a size"},
      {"grace: 2h", "deck.yaml:1: grace: \"2h\" is not a duration from 1s to 1m"},
      {"level: durabel",
       "level: \"durabel\" is not one of written, durable; did you mean \"durable\"?"},
      {"listen: 7400", "deck.yaml:1: listen: \"7400\" is not a text without quotes"},
      {"on: yes", "deck.yaml:1: on: \"yes\" is not true or false"},
      {"on: \"true\"", "on: \"true\" is not written without quotes"},
      {"rate: .inf", "rate: \".inf\" is not a number from "},
      {"rate: fast", "rate: \"fast\" is not a number from "},
      {"path: a\ndevice: b", "deck.yaml:2: device: only one may be given of it and path"},
      {"listen: a\nlisten: b", "deck.yaml:2: the key \"listen\" appears twice"},
      {"listen:\non: true", "deck.yaml:2: \"listen\" has no value"},
      {"listen: &a b\n", "deck.yaml:1: anchors and aliases are not supported"},
      {"nested: &a {}\n", "anchors and aliases are not supported"},
      {"listen: *a\n", "deck.yaml:1: "},
      {"listen: !!str a", "deck.yaml:1: tags (!name) are not supported"},
      {"listen: !secret a", "deck.yaml:1: tags (!name) are not supported"},
      {"[a]: b", "deck.yaml:1: a list or map as a key"},
      {"listen: a\n---\nlisten: b", "deck.yaml: has more than one document"},
      {"on: true\nlisten: [a", "deck.yaml:2: \""},
      {"listen: \"a", "deck.yaml:1: \""},
      {"\tlisten: a", "deck.yaml:1: "},
      {"listen: a\n\x01", "deck.yaml:2: a control character"},
      {"listen: \xff", "deck.yaml:1: a control character, or what is not UTF-8"},
      {"on: true\nlisten: \"\\x00\"", "deck.yaml:2: a text with a control character"},
  };
  for (const Case& one : cases) EXPECT_THAT(FaultOf(one.text), HasSubstr(one.fault)) << one.text;
}

TEST_F(ReaderTest, KeepsBounds) {
  std::string deep;
  for (size_t i = 0; i < kMaxDepth; ++i) deep += "{nested: ";
  EXPECT_THAT(FaultOf(deep + "{}" + std::string(kMaxDepth, '}')), HasSubstr("in each other"));
  EXPECT_NE(FaultOf(std::string(100'000, '[')), "");
  EXPECT_NE(FaultOf(absl::StrCat("ports: [", std::string(100'000, ','), "]")), "");
  std::string many = "ports: [1";
  for (size_t i = 0; i < kMaxElements; ++i) many += ",1";
  EXPECT_THAT(FaultOf(many + "]"), HasSubstr("more than 16384 values"));
  EXPECT_THAT(FaultOf("#" + std::string(kMaxTextBytes, 'x')), HasSubstr("more than 262144 bytes"));
}

TEST_F(ReaderTest, ReadsRegularFilesOnly) {
  const auto message = sample_.New();
  const std::string folder = ::testing::TempDir();
  EXPECT_EQ(ReasonOf(ReadFile(folder + "/none.yaml", *message).status())->reason, "FILE_NOT_FOUND");
  EXPECT_EQ(ReasonOf(ReadFile(folder, *message).status())->reason, "FILE_INVALID");
  const std::string path = absl::StrCat(folder, "/reader_test_", getpid(), ".yaml");
  std::ofstream(path) << "listen: a\n";
  EXPECT_TRUE(ReadFile(path, *message).ok());
  unlink(path.c_str());
}

}  // namespace
}  // namespace tapedeck::services::config
