#include "tests/services/base/config/daemons.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <utility>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "gpu_worker/settings.h"
#include "storage_node/settings.h"
#include "tests/shared_data.h"

namespace tapedeck::services::config {

namespace {

// How a daemon's main calls it.
template <typename Parse, typename Look>
Outcome Parsed(std::vector<std::string> arguments, Named named, Parse parse, Look look) {
  arguments.insert(arguments.begin(), "daemon");
  std::vector<char*> argv;
  for (std::string& argument : arguments) argv.push_back(argument.data());
  const int argc = static_cast<int>(argv.size());
  ::testing::internal::CaptureStdout();
  ::testing::internal::CaptureStderr();
  Outcome outcome;
  const auto look_or_not = [&](const auto& settings) {
    return named == Named::kLookedAt ? look(settings) : Looked();
  };
  outcome.starts = parse(argc, argv.data(), look_or_not, &outcome.status).has_value();
  outcome.out = ::testing::internal::GetCapturedStdout();
  outcome.err = ::testing::internal::GetCapturedStderr();
  return outcome;
}

}  // namespace

Outcome ParseAs(NodeRole node, std::vector<std::string> arguments, Named named) {
  if (node == NodeRole::kStorage) {
    return Parsed(std::move(arguments), named, storage_node::ParseSettings,
                  storage_node::LookAtAll);
  }
  return Parsed(std::move(arguments), named, gpu_worker::ParseSettings, gpu_worker::LookAtAll);
}

TextFile::TextFile(const std::string& text)
    : path_(absl::StrCat(::testing::TempDir(), "/config_test_", getpid(), ".yaml")) {
  std::ofstream(path_) << text;
}

TextFile::~TextFile() { unlink(path_.c_str()); }

std::vector<Example> Examples() {
  std::vector<Example> examples;
  for (const auto& entry : std::filesystem::directory_iterator(TreeFile("deploy/examples"))) {
    const std::string name = entry.path().filename();
    if (!absl::EndsWith(name, ".yaml") && !absl::EndsWith(name, ".json")) continue;
    std::ifstream file(entry.path());
    examples.push_back({absl::StartsWith(name, "storage") ? NodeRole::kStorage : NodeRole::kWorker,
                        entry.path(), std::string(std::istreambuf_iterator<char>(file), {})});
  }
  std::ranges::sort(examples, {}, &Example::path);
  return examples;
}

}  // namespace tapedeck::services::config
