#include "tests/services/tapectl/process.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <sstream>

#include "absl/strings/str_cat.h"

namespace tapedeck::services::tapectl {
namespace {

std::string Contents(const std::string& path) {
  std::ifstream file(path);
  std::stringstream text;
  text << file.rdbuf();
  unlink(path.c_str());
  return text.str();
}

// Programs and tests are built into the same folder.
std::string TapectlPath() {
  return std::filesystem::read_symlink("/proc/self/exe").replace_filename("tapectl").string();
}

}  // namespace

Outcome RunTapectl(const std::vector<std::string>& arguments,
                   const std::function<void()>& meanwhile, int signal) {
  const std::string base = absl::StrCat(testing::TempDir(), "tapectl.", getpid());
  const std::string out = base + ".out";
  const std::string err = base + ".err";
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  const int flags = O_CREAT | O_TRUNC | O_WRONLY;
  posix_spawn_file_actions_addopen(&actions, STDOUT_FILENO, out.c_str(), flags, 0600);
  posix_spawn_file_actions_addopen(&actions, STDERR_FILENO, err.c_str(), flags, 0600);

  std::vector<char*> argv = {const_cast<char*>("tapectl")};
  for (const std::string& argument : arguments) argv.push_back(const_cast<char*>(argument.c_str()));
  argv.push_back(nullptr);
  pid_t child = 0;
  EXPECT_EQ(posix_spawn(&child, TapectlPath().c_str(), &actions, nullptr, argv.data(), environ), 0);
  posix_spawn_file_actions_destroy(&actions);
  if (meanwhile) meanwhile();
  if (signal != 0) kill(child, signal);
  int status = 0;
  waitpid(child, &status, 0);
  return {.exit_code = WIFEXITED(status) ? WEXITSTATUS(status) : -WTERMSIG(status),
          .out = Contents(out),
          .err = Contents(err)};
}

}  // namespace tapedeck::services::tapectl
