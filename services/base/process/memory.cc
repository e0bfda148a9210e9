#include "services/base/process/memory.h"

#include <malloc.h>
#include <sys/uio.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <cerrno>
#include <cstddef>
#include <cstring>
#include <new>

namespace tapedeck::services {
namespace {

constexpr char kText[] =
    ": out of memory: this process ends here. Blocks acknowledged as written or durable are kept. "
    "The storage node recovers open recordings at its next start. Start this program again with "
    "more memory, fewer sessions, smaller rings or smaller memory LUNs\n";

// On whatever thread it was, under whatever locks: nothing here allocates, and no destructor runs.
// Of several threads the first ends the process, and the others with it.
[[noreturn]] void End() {
  static std::atomic_flag ending = ATOMIC_FLAG_INIT;
  while (ending.test_and_set()) pause();
  const std::array<iovec, 2> line = {
      {{.iov_base = program_invocation_short_name,
        .iov_len = std::strlen(program_invocation_short_name)},
       {.iov_base = const_cast<char*>(kText), .iov_len = sizeof(kText) - 1}}};
  // Nothing can be done about a failed write to stderr.
  [[maybe_unused]] const ssize_t written = writev(STDERR_FILENO, line.data(), line.size());
  _exit(kOutOfMemoryExit);
}

// Less is what a busy node frees and takes all the time.
constexpr size_t kSpareBytes = 8 << 20;

constexpr int kArenas = 4;

}  // namespace

void EndWhenOutOfMemory() { std::set_new_handler(&End); }

void ShareSpareMemory() { mallopt(M_ARENA_MAX, kArenas); }

void GiveBackSpareMemory() {
  const struct mallinfo2 info = mallinfo2();
  if (info.fordblks >= kSpareBytes) malloc_trim(kSpareBytes / 4);
}

}  // namespace tapedeck::services
