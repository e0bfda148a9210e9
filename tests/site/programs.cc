#include "tests/site/programs.h"

#include <fcntl.h>
#include <signal.h>
#include <spawn.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdio>
#include <fstream>
#include <sstream>
#include <utility>
#include <vector>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "absl/time/time.h"
#include "dataplane/now.h"

namespace tapedeck::site {
namespace {

class Program final : public Daemon {
 public:
  Program(pid_t process, std::string log) : process_(process), log_(std::move(log)) {}
  ~Program() override {
    if (!ended_) {
      kill(process_, SIGTERM);
      waitpid(process_, nullptr, 0);
    }
    unlink(log_.c_str());
  }

  int port() const override { return port_; }

  // Its log says where it listens once it is ready.
  absl::Status AwaitReady() {
    const absl::Time deadline = dataplane::SteadyTime() + absl::Minutes(1);
    while (dataplane::SteadyTime() < deadline) {
      if (ReadPort()) return absl::OkStatus();
      if (waitpid(process_, nullptr, WNOHANG) == process_) {
        ended_ = true;
        return absl::UnavailableError(absl::StrCat("the program ended: ", Log()));
      }
      absl::SleepFor(absl::Milliseconds(10));
    }
    return absl::DeadlineExceededError(absl::StrCat("the program is not ready: ", Log()));
  }

 private:
  std::string Log() const {
    std::ifstream file(log_);
    std::stringstream text;
    text << file.rdbuf();
    return text.str();
  }

  bool ReadPort() {
    const std::string port = " port=";
    const std::string log = Log();
    const size_t ready = log.find("component=main");  // its first line
    const size_t at = ready == std::string::npos ? ready : log.find(port, ready);
    const size_t end = at == std::string::npos ? at : log.find('\n', at);
    if (end == std::string::npos) return false;
    const size_t begin = at + port.size();
    return absl::SimpleAtoi(absl::string_view(log).substr(begin, end - begin), &port_);
  }

  const pid_t process_;
  const std::string log_;
  bool ended_ = false;
  int port_ = 0;
};

using Words = std::vector<std::string>;

void AddEach(Words& words, const std::string& option, const std::vector<std::string>& values) {
  for (const std::string& value : values) words.insert(words.end(), {option, value});
}

absl::StatusOr<std::unique_ptr<Daemon>> Spawn(const std::string& program, const Words& words) {
  std::string log = "/tmp/tapedeck-site-XXXXXX";
  const int file = mkstemp(log.data());
  if (file < 0) return absl::ErrnoToStatus(errno, "the log of a program");
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_adddup2(&actions, file, STDERR_FILENO);
  std::vector<char*> argv = {const_cast<char*>(program.c_str())};
  for (const std::string& word : words) argv.push_back(const_cast<char*>(word.c_str()));
  argv.push_back(nullptr);
  pid_t process = 0;
  const int error = posix_spawn(&process, program.c_str(), &actions, nullptr, argv.data(), environ);
  posix_spawn_file_actions_destroy(&actions);
  close(file);
  if (error != 0) return absl::ErrnoToStatus(error, program);
  auto started = std::make_unique<Program>(process, std::move(log));
  if (const absl::Status ready = started->AwaitReady(); !ready.ok()) return ready;
  return started;
}

}  // namespace

absl::StatusOr<std::unique_ptr<Daemon>> StartProgram(const std::string& folder,
                                                     const storage_node::Settings& settings) {
  Words words = {"--listen", settings.listen, "--state", settings.state};
  AddEach(words, "--rail", settings.rails);
  AddEach(words, "--member-root", settings.member_roots);
  return Spawn(folder + "/tapedeck-storage", words);
}

absl::StatusOr<std::unique_ptr<Daemon>> StartProgram(const std::string& folder,
                                                     const gpu_worker::Settings& settings) {
  Words words = {"--listen", settings.listen, "--inlets", settings.inlets ? "on" : "off"};
  AddEach(words, "--rail", settings.rails);
  AddEach(words, "--device", settings.devices);
  return Spawn(folder + "/tapedeck-worker", words);
}

}  // namespace tapedeck::site
