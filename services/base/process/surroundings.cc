#include "services/base/process/surroundings.h"

#include <fcntl.h>
#include <signal.h>
#include <sys/syscall.h>
#include <unistd.h>

namespace tapedeck::services {
namespace {

// open(2) gives the lowest number that is free. As bare system calls, which need no library.
void OpenStandardDescriptors(int, char**, char**) {
  long fd = 0;
  while (fd >= 0 && fd <= STDERR_FILENO) fd = syscall(SYS_openat, AT_FDCWD, "/dev/null", O_RDWR, 0);
  if (fd > STDERR_FILENO) syscall(SYS_close, fd);
}

// Libraries open files of their own as they are loaded, before main: the loader calls this before
// them. System V ABI, "Initialization and Termination Functions", DT_PREINIT_ARRAY.
[[gnu::section(".preinit_array"),
  gnu::used]] void (*const kBeforeLibraries)(int, char**, char**) = OpenStandardDescriptors;

}  // namespace

void PrepareSurroundings() { signal(SIGXFSZ, SIG_IGN); }

bool HangUpEnds() {
  struct sigaction now = {};
  return sigaction(SIGHUP, nullptr, &now) == 0 && now.sa_handler != SIG_IGN;
}

}  // namespace tapedeck::services
