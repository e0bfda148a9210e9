#include "tests/faults/short_lived.h"

#include <fcntl.h>
#include <sys/wait.h>
#include <unistd.h>

namespace tapedeck::faults {

std::string RunShortLived(const std::string& said, const std::function<void()>& task) {
  const pid_t child = fork();
  if (child == 0) {
    alarm(30);
    dup2(open(said.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600), STDERR_FILENO);
    task();
    _exit(0);
  }
  int status = 0;
  if (child < 0 || waitpid(child, &status, 0) != child) return "no process";
  if (WIFSIGNALED(status)) return "signal " + std::to_string(WTERMSIG(status));
  return "exit " + std::to_string(WEXITSTATUS(status));
}

}  // namespace tapedeck::faults
