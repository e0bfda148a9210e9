#include "tests/bench/node_process.h"

#include <arpa/inet.h>
#include <fcntl.h>
#include <signal.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/time/clock.h"
#include "dataplane/status_macros.h"
#include "services/rpc/client/node_client.h"
#include "services/rpc/identity/tls/tls.h"

namespace tapedeck::bench {
namespace {

// Exit status of a child that could not execute what it shall run, as a shell's.
constexpr int kNoProgram = 127;

uint16_t FreePort() {
  const int fd = socket(AF_INET, SOCK_STREAM, 0);
  sockaddr_in address{.sin_family = AF_INET};
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  socklen_t length = sizeof(address);
  if (bind(fd, reinterpret_cast<sockaddr*>(&address), length) != 0) std::abort();
  getsockname(fd, reinterpret_cast<sockaddr*>(&address), &length);
  close(fd);
  return ntohs(address.sin_port);
}

pid_t Spawn(const std::vector<std::string>& line, const std::string& log) {
  std::vector<char*> argv;
  for (const std::string& word : line) argv.push_back(const_cast<char*>(word.c_str()));
  argv.push_back(nullptr);
  const pid_t pid = fork();
  if (pid != 0) return pid;
  const int fd = open(log.c_str(), O_CREAT | O_WRONLY, 0600);
  dup2(fd, STDERR_FILENO);
  execv(argv[0], argv.data());
  _exit(kNoProgram);
}

// UNAVAILABLE with the last line that it wrote, once it has ended.
absl::Status IfEnded(pid_t pid, const std::string& program, const std::string& log) {
  int status = 0;
  if (waitpid(pid, &status, WNOHANG) != pid) return absl::OkStatus();
  std::string last;
  std::ifstream lines(log);
  for (std::string line; std::getline(lines, line);) last = line;
  if (WIFEXITED(status) && WEXITSTATUS(status) == kNoProgram) last = "it cannot be executed";
  return absl::UnavailableError(absl::StrCat(program, " has ended: ", last));
}

// A policy that lets everybody do everything, as often as they can.
std::vector<std::string> SecurityOptions(const services::identity::TlsFiles& tls,
                                         const std::string& policy) {
  std::ofstream(policy) << "rules: [{identities: ['**'], role: admin, resources: ['luns/*']}]\n"
                           "limits: {calls_per_second_per_identity: 1000000}\n";
  return {"--tls-cert", tls.cert, "--tls-key", tls.key, "--tls-ca", tls.ca, "--policy", policy};
}

}  // namespace

NodeProcess::NodeProcess(pid_t pid, std::string state, const std::string& address,
                         services::client::Credentials credentials)
    : pid_(pid),
      state_(std::move(state)),
      credentials_(std::move(credentials)),
      channel_(services::client::MakeChannel(address, {}, credentials_)),
      catalog_(channel_, absl::Seconds(60)) {}

services::client::Channel NodeProcess::NewChannel() const {
  return services::client::MakeChannel(channel_.address, {}, credentials_);
}

absl::StatusOr<std::unique_ptr<NodeProcess>> NodeProcess::Start(
    NodeProgram program, const std::vector<std::string>& rails,
    const std::vector<std::string>& more, const services::identity::TlsFiles& tls) {
  char state[] = "/tmp/tapedeck-bench.XXXXXX";
  if (mkdtemp(state) == nullptr) return absl::InternalError("mkdtemp: no temporary directory");
  const std::string address = absl::StrCat("127.0.0.1:", FreePort());
  const std::filesystem::path self = std::filesystem::read_symlink("/proc/self/exe");
  std::vector<std::string> line;
  if (program == NodeProgram::kStorage) {
    line = {(self.parent_path() / "tapedeck-storage").string(), "--state",
            absl::StrCat(state, "/state")};
  } else {
    line = {self.string(), "null-node"};
  }
  line.insert(line.end(), {"--listen", address});
  for (const std::string& rail : rails) line.insert(line.end(), {"--rail", rail});
  line.insert(line.end(), more.begin(), more.end());
  services::client::Credentials credentials;
  if (tls.given()) {
    TD_ASSIGN_OR_RETURN(credentials.tls, services::identity::Tls::Create(tls));
    const auto secured = SecurityOptions(tls, absl::StrCat(state, "/policy.yaml"));
    line.insert(line.end(), secured.begin(), secured.end());
  }
  const std::string log = absl::StrCat(state, "/log");
  const pid_t pid = Spawn(line, log);
  if (pid < 0) return absl::InternalError("fork failed");
  auto node =
      std::unique_ptr<NodeProcess>(new NodeProcess(pid, state, address, std::move(credentials)));
  absl::Status answer;
  for (int i = 0; i < 100; ++i) {
    answer = services::client::GetNode(node->NewChannel(), absl::Seconds(5)).status();
    if (answer.ok()) return node;
    TD_RETURN_IF_ERROR(IfEnded(pid, line.front(), log));
    absl::SleepFor(absl::Milliseconds(100));
  }
  return answer;
}

NodeProcess::~NodeProcess() {
  kill(pid_, SIGTERM);
  waitpid(pid_, nullptr, 0);
  std::error_code ignored;
  std::filesystem::remove_all(state_, ignored);
}

absl::Status NodeProcess::MakeChannel(const services::Lun& lun, uint64_t block_bytes) {
  TD_RETURN_IF_ERROR(catalog_.CreateLun(lun).status());
  const std::string id = lun.name.substr(lun.name.find('/') + 1);
  return catalog_
      .CreateChannel({.name = absl::StrCat(lun.name, "/channels/", id),
                      .block_bytes = block_bytes,
                      .datatype = "cf32_le"})
      .status();
}

}  // namespace tapedeck::bench
