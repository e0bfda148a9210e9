// An unmodified memcached on a port of its own, and an ordinary client that fills it.
#pragma once

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <sstream>
#include <string>
#include <vector>

#include "tests/gpu_worker/sockets/plain_tcp.h"
#include "tests/gpu_worker/sockets/served.h"

namespace tapedeck::gpu_worker::sockets {

// Where `program` lies in PATH; empty: nowhere.
inline std::string PathOf(const std::string& program) {
  std::istringstream folders(getenv("PATH") != nullptr ? getenv("PATH") : "");
  for (std::string folder; std::getline(folders, folder, ':');) {
    const std::string path = folder + "/" + program;
    if (access(path.c_str(), X_OK) == 0) return path;
  }
  return "";
}

class MemcachedProcess {
 public:
  explicit MemcachedProcess(const std::string& path) {
    { const Fd free = PlainListen(&port_); }
    const std::string port = std::to_string(port_);
    // It runs as root only where it is told to.
    std::vector<const char*> words = {path.c_str(), "-l", "127.0.0.1", "-p",   port.c_str(),
                                      "-U",         "0",  "-m",        "64",   "-t",
                                      "1",          "-u", "root",      nullptr};
    if (geteuid() != 0) words.erase(words.end() - 3, words.end() - 1);
    if (posix_spawn(&pid_, path.c_str(), nullptr, nullptr, const_cast<char**>(words.data()),
                    environ) != 0) {
      pid_ = -1;
    }
  }
  MemcachedProcess(const MemcachedProcess&) = delete;
  ~MemcachedProcess() { Kill(); }

  uint32_t port() const { return port_; }

  // Within 20 s.
  bool Answers() {
    return Soon([this] {
      const Fd client(socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
      const sockaddr_in name = LoopbackName(port_);
      return connect(client.get(), reinterpret_cast<const sockaddr*>(&name), sizeof(name)) == 0;
    });
  }

  void Kill() {
    if (pid_ <= 0) return;
    kill(pid_, SIGKILL);
    waitpid(pid_, nullptr, 0);
    pid_ = -1;
  }

 private:
  pid_t pid_ = -1;
  uint32_t port_ = 0;
};

// One more value, for PlainSend; its answer is none.
inline std::string SetCommand(const std::string& key, const std::string& value) {
  return "set " + key + " 0 0 " + std::to_string(value.size()) + " noreply\r\n" + value + "\r\n";
}

// Whether all that was sent before has been taken.
inline bool HasTaken(const Fd& client) {
  return PlainSend(client, "mn\r\n") && PlainReceive(client, 4) == "MN\r\n";
}

}  // namespace tapedeck::gpu_worker::sockets
