// Both daemons with files, variables of the environment and options.
#include "tests/services/base/config/daemons.h"

#include <gmock/gmock.h>
#include <google/protobuf/descriptor.h>
#include <google/protobuf/message.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <random>
#include <set>

#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_split.h"
#include "absl/strings/strip.h"
#include "services/base/config/option_text.h"

namespace tapedeck::services::config {
namespace {

using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::StartsWith;

constexpr char kMinimal[] =
    "state: /tmp/deck\nrails:\n- {name: r0, transport: tcp, address: 127.0.0.1}\n";

class Variable {
 public:
  Variable(const char* name, const char* text) : name_(name) { setenv(name, text, 1); }
  ~Variable() { unsetenv(name_); }

 private:
  const char* const name_;
};

std::string PrintedStorage(const std::vector<std::string>& arguments) {
  std::vector<std::string> all = arguments;
  all.push_back("--print-config");
  const Outcome outcome = ParseAs(NodeRole::kStorage, all);
  EXPECT_EQ(outcome.status, 0) << outcome.err;
  return outcome.out;
}

TEST(Daemons, ExamplesAreRightAndPrintTheSameAgain) {
  const std::vector<Example> examples = Examples();
  ASSERT_GE(examples.size(), 4u);
  for (const Example& example : examples) {
    const Outcome checked = ParseAs(example.node, {"--config", example.path, "--check-config"});
    EXPECT_FALSE(checked.starts);
    EXPECT_EQ(checked.status, 0) << checked.err;
    const Outcome printed = ParseAs(example.node, {"--config", example.path, "--print-config"});
    EXPECT_EQ(printed.status, 0) << printed.err;
    const TextFile file(printed.out);
    const Outcome again = ParseAs(example.node, {"--config", file.path(), "--print-config"});
    EXPECT_EQ(again.out, printed.out) << again.err;
    EXPECT_TRUE(ParseAs(example.node, {"--config", example.path}).starts) << example.path;
  }
}

// A line "#key: value" of a file is a setting that is not used, "# words" are a comment.
std::string WithAllSettings(const std::string& text) {
  std::vector<std::string> lines = absl::StrSplit(text, '\n');
  for (std::string& line : lines) {
    const size_t at = line.find_first_not_of(' ');
    if (at + 1 < line.size() && line[at] == '#' && line[at + 1] != ' ') line.erase(at, 1);
  }
  return absl::StrJoin(lines, "\n");
}

// Those that the packages install.
TEST(Daemons, InstalledFilesShowEachSetting) {
  int seen = 0;
  for (const Example& example : Examples()) {
    if (!absl::EndsWith(example.path, "-installed.yaml")) continue;
    ++seen;
    const TextFile file(WithAllSettings(example.text));
    const Outcome outcome = ParseAs(example.node, {"--config", file.path(), "--check-config"});
    EXPECT_EQ(outcome.status, 0) << outcome.err;
    const auto schema = NewConfig(example.node);
    for (int i = 0; i < schema->GetDescriptor()->field_count(); ++i) {
      const std::string key = absl::StrCat("\n", schema->GetDescriptor()->field(i)->name(), ":");
      EXPECT_THAT(WithAllSettings(example.text), HasSubstr(key)) << example.path;
    }
  }
  EXPECT_EQ(seen, 2);
}

TEST(Daemons, FlagGoesBeforeEnvironmentBeforeFileBeforeDefault) {
  const TextFile file(absl::StrCat(kMinimal, "listen: 127.0.0.1:3\nfollow_memory: 3MiB\n"));
  const std::vector<std::string> config = {"--config", file.path()};
  EXPECT_THAT(PrintedStorage(config), HasSubstr("listen: \"127.0.0.1:3\"\n"));
  EXPECT_THAT(PrintedStorage(config), HasSubstr("follow_memory: \"3MiB\"\n"));
  EXPECT_THAT(PrintedStorage(config), HasSubstr("flight_recorder: \"on\"\n"));
  const Variable listen("TAPEDECK_STORAGE_LISTEN", "127.0.0.1:2");
  const Variable rails("TAPEDECK_STORAGE_RAIL", "a=tcp:127.0.0.1,b=tcp:[::1]:9");
  const std::string of_environment = PrintedStorage(config);
  EXPECT_THAT(of_environment, HasSubstr("listen: \"127.0.0.1:2\"\n"));
  EXPECT_THAT(of_environment, HasSubstr("name: \"b\"\n    transport: \"tcp\"\n    address: \"::1\""
                                        "\n    port: 9\n"));
  EXPECT_EQ(of_environment.find("r0"), std::string::npos);
  EXPECT_THAT(PrintedStorage({"--listen", "127.0.0.1:1", "--config", file.path()}),
              HasSubstr("listen: \"127.0.0.1:1\"\n"));
  const Variable of_file("TAPEDECK_STORAGE_CONFIG", file.path().c_str());
  EXPECT_THAT(PrintedStorage({"--listen", "127.0.0.1:1"}), HasSubstr("state: \"/tmp/deck\"\n"));
}

// A file with one device is as it was when there was no more than one.
TEST(Daemons, AWorkerTakesSeveralDevices) {
  const auto printed = [](std::vector<std::string> line) {
    line.insert(line.end(), {"--rail", "r0=tcp:127.0.0.1", "--print-config"});
    const Outcome outcome = ParseAs(NodeRole::kWorker, line);
    EXPECT_EQ(outcome.status, 0) << outcome.err;
    return outcome.out;
  };
  const std::string both = "device:\n  - \"cuda:0\"\n  - \"cuda:1\"\n";
  EXPECT_THAT(printed({}), HasSubstr("device:\n  - \"auto\"\n"));
  EXPECT_THAT(printed({"--device", "cuda:0", "--device", "cuda:1"}), HasSubstr(both));
  for (const char* text : {"device: host\n", "device: [host]\n", "device:\n- host\n"}) {
    const TextFile file(text);
    EXPECT_THAT(printed({"--config", file.path()}), HasSubstr("device:\n  - \"host\"\n"));
    const Variable devices("TAPEDECK_WORKER_DEVICE", "cuda:0,cuda:1");
    EXPECT_THAT(printed({"--config", file.path()}), HasSubstr(both));
  }
  const TextFile twice("device: [all, host]\n");
  const Outcome refused = ParseAs(NodeRole::kWorker, {"--config", twice.path(), "--check-config"});
  EXPECT_EQ(refused.status, 2);
  EXPECT_THAT(refused.err, HasSubstr("--device all must stand alone"));
}

TEST(Daemons, SaysWhereAWrongValueStands) {
  const TextFile file(absl::StrCat(kMinimal, "- {name: r1, transport: tpc, address: a}\n"));
  const std::vector<std::string> config = {"--config", file.path()};
  EXPECT_THAT(ParseAs(NodeRole::kStorage, config).err,
              StartsWith(absl::StrCat(file.path(), ":4: rails[1]: rail r1: no transport \"tpc\"")));
  {
    const Variable rails("TAPEDECK_STORAGE_RAIL", "r0");
    EXPECT_THAT(ParseAs(NodeRole::kStorage, config).err, StartsWith("TAPEDECK_STORAGE_RAIL: rail"));
  }
  {
    const Variable memory("TAPEDECK_STORAGE_FOLLOW_MEMORY", "much");
    EXPECT_THAT(ParseAs(NodeRole::kStorage, {"--state", "/tmp", "--rail", "r0=tcp:127.0.0.1"}).err,
                StartsWith("TAPEDECK_STORAGE_FOLLOW_MEMORY: \"much\" is not a size"));
  }
  EXPECT_THAT(ParseAs(NodeRole::kStorage, {"--listen", "x"}).err, StartsWith("--listen: "));
  const Outcome none = ParseAs(NodeRole::kWorker, {"--check-config"});
  EXPECT_EQ(none.status, 2);
  EXPECT_THAT(none.err, HasSubstr("no rail given"));
  const Outcome missing = ParseAs(NodeRole::kWorker, {"--config", "/nowhere.yaml"});
  EXPECT_EQ(missing.status, 2);
  EXPECT_THAT(missing.err, HasSubstr("/nowhere.yaml"));
  EXPECT_EQ(ParseAs(NodeRole::kWorker, {"--config", "/nowhere.yaml", "--help"}).status, 0);
}

// What the certificates are is not looked at here.
TEST(Daemons, RailsAreNotEncryptedWithKeysThatTravelInClear) {
  const auto storage = [](const std::vector<std::string>& more) {
    std::vector<std::string> line = {"--state", "/tmp/deck", "--rail-tls", "on"};
    line.insert(line.end(), more.begin(), more.end());
    return ParseAs(NodeRole::kStorage, line);
  };
  const std::vector<std::string> here = {"--rail", "r0=tcp:127.0.0.1", "--rail", "r1=tcp:[::1]:9"};
  EXPECT_TRUE(storage(here).starts);
  std::vector<std::string> line = here;
  line.insert(line.end(), {"--listen", "192.0.2.1:7400"});
  for (const auto& wrong : std::vector<std::vector<std::string>>{
           line, {"--rail", "r0=tcp:192.0.2.1"}, {"--rail", "r0=tcp:%eth0"}}) {
    const Outcome refused = storage(wrong);
    EXPECT_EQ(refused.status, 2);
    EXPECT_THAT(refused.err, HasSubstr("--rail-tls on requires --tls-cert"));
  }
  line.insert(line.end(), {"--tls-cert", "c.pem", "--tls-key", "k.pem", "--tls-ca", "a.pem"});
  EXPECT_TRUE(storage(line).starts);
  EXPECT_EQ(ParseAs(NodeRole::kWorker, {"--rail-tls", "on", "--rail", "r0=tcp:192.0.2.1"}).status,
            2);
}

TEST(Daemons, PlainTextForOtherMachinesIsSaidAloud) {
  for (const NodeRole node : {NodeRole::kStorage, NodeRole::kWorker}) {
    std::vector<std::string> line = {"--check-config", "--listen", "192.0.2.1:7400", "--rail",
                                     "r0=tcp:127.0.0.1"};
    if (node == NodeRole::kStorage) line.insert(line.end(), {"--state", "/tmp/deck"});
    const Outcome refused = ParseAs(node, line);
    EXPECT_EQ(refused.status, 2);
    EXPECT_THAT(refused.err, HasSubstr("or say --insecure"));
    line.push_back("--insecure");
    EXPECT_EQ(ParseAs(node, line).status, 0);
  }
}

// Whoever adds an option gives it a field in config.proto, or adds it here and says why.
const std::set<std::string> kOfTheLineAlone = {
    "--help",         "--version", "--config",          "--check-config",
    "--print-config", "--check",   "--rebuild-catalog", "--member",  // errands, which end
};

std::set<std::string> OptionsInHelp(NodeRole node) {
  std::set<std::string> options;
  for (absl::string_view line : absl::StrSplit(ParseAs(node, {"--help"}).out, '\n')) {
    // Terms stand behind two spaces, what they are behind more.
    if (!absl::ConsumePrefix(&line, "  ") || absl::StartsWith(line, " ")) continue;
    const absl::string_view names = line.substr(0, line.find(' '));
    for (const absl::string_view name : absl::StrSplit(names, ',')) {
      if (absl::StartsWith(name, "--")) options.insert(std::string(name));
    }
  }
  return options;
}

TEST(Daemons, EachOptionHasItsField) {
  for (const NodeRole node : {NodeRole::kStorage, NodeRole::kWorker}) {
    const auto schema = NewConfig(node);
    std::set<std::string> options = OptionsInHelp(node);
    EXPECT_GE(options.size(), 10u);
    for (int i = 0; i < schema->GetDescriptor()->field_count(); ++i) {
      const std::string option = OptionOf(*schema->GetDescriptor()->field(i));
      EXPECT_EQ(options.erase(option), 1u) << option << " is a field and no option";
    }
    for (const std::string& option : kOfTheLineAlone) options.erase(option);
    EXPECT_THAT(options, IsEmpty()) << "options without a field in config.proto";
  }
}

// One way to break a line of a file.
std::string Broken(std::string line, uint32_t how) {
  const size_t colon = line.find(':');
  // Twice it would not be wrong.
  const bool is_item = absl::StartsWith(absl::StripLeadingAsciiWhitespace(line), "- \"");
  switch (is_item && how % 7 == 1 ? 2 : how % 7) {
    case 0:
      return absl::StrCat("x", line);  // another key, or no list item
    case 1:
      return absl::StrCat(line, "\n", line);  // twice
    case 2:
      return absl::StrCat(line, " [");
    case 3:
      return absl::StrCat(line.substr(0, colon + 1), " {a: 1}");
    case 4:
      return absl::StrCat(line.substr(0, colon + 1), " -1");
    case 5:
      return absl::StrCat(line.substr(0, colon + 1), " &a \"\\x01\"");
    default:
      return absl::StrCat(line.substr(0, colon + 1), " 99999999999999999999");
  }
}

TEST(Daemons, BrokenFilesAreRefusedWithLineAndField) {
  std::mt19937 random(7);  // NOLINT: the same every time
  int refused = 0;
  const std::vector<Example> examples = Examples();
  while (refused < 100) {
    const Example& example = examples[random() % examples.size()];
    const Outcome printed = ParseAs(example.node, {"--config", example.path, "--print-config"});
    std::vector<std::string> lines = absl::StrSplit(printed.out, '\n', absl::SkipEmpty());
    std::string& line = lines[random() % lines.size()];
    const std::string was = line;
    line = Broken(line, random());
    const TextFile file(absl::StrJoin(lines, "\n"));
    const Outcome outcome = ParseAs(example.node, {"--config", file.path()});
    SCOPED_TRACE(absl::StrCat(was, "\n became\n", line));
    EXPECT_FALSE(outcome.starts);
    EXPECT_EQ(outcome.status, 2);
    EXPECT_THAT(outcome.err, ::testing::MatchesRegex(absl::StrCat(".*", file.path(),
                                                                  ":[0-9]+: .*"
                                                                  "(.|\n)*")));
    ++refused;
  }
}

}  // namespace
}  // namespace tapedeck::services::config
