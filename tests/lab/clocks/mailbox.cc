#include "tests/lab/clocks/mailbox.h"

#include <fcntl.h>
#include <glob.h>
#include <sys/mman.h>
#include <unistd.h>

#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <ctime>
#include <fstream>

namespace tapedeck::lab {
namespace {

constexpr size_t kPageBytes = 4096;
constexpr int64_t kSecondNs = 1'000'000'000;
// Other programs of the host may have the processors for a while; then it is asked on.
constexpr int kEnough = 100;
constexpr int64_t kGoodNs = 5'000;
constexpr int64_t kGiveUpNs = 20 * kSecondNs;

struct Mailbox {
  alignas(64) std::atomic<uint64_t> asked;
  alignas(64) std::atomic<uint64_t> answered;
  std::atomic<int64_t> host_ns;
};
struct Page {
  Mailbox boxes[kMailboxes];
  std::atomic<int64_t> utc_ns;  // the host's, less its steady clock's; 0: nobody has answered
};
static_assert(sizeof(Page) <= kPageBytes);
static_assert(std::atomic<uint64_t>::is_always_lock_free);

int64_t NowNs(clockid_t clock = CLOCK_REALTIME) {
  timespec now = {};
  clock_gettime(clock, &now);
  return now.tv_sec * kSecondNs + now.tv_nsec;
}

[[noreturn]] void Give(const std::string& what) {
  std::perror(what.c_str());
  std::exit(1);
}

Page* Map(const std::string& file) {
  const int fd = open(file.c_str(), O_RDWR | O_CLOEXEC | O_SYNC);
  if (fd < 0) Give(file);
  void* page = mmap(nullptr, kPageBytes, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
  if (page == MAP_FAILED) Give(file);
  close(fd);
  return static_cast<Page*>(page);
}

std::string TextOf(const std::string& file) {
  std::string text;
  std::ifstream(file) >> text;
  return text;
}

// QEMU's ivshmem: its second region is the page.
std::string FindMemory() {
  glob_t found = {};
  glob("/sys/bus/pci/devices/*", 0, nullptr, &found);
  std::string memory;
  for (size_t i = 0; i < found.gl_pathc; ++i) {
    const std::string device = found.gl_pathv[i];
    if (TextOf(device + "/vendor") != "0x1af4" || TextOf(device + "/device") != "0x1110") continue;
    std::ofstream(device + "/enable") << "1";
    memory = device + "/resource2";
  }
  globfree(&found);
  if (memory.empty()) Give("no memory is shared with the host");
  return memory;
}

}  // namespace

void Answer(const std::string& file) {
  Page* const page = Map(file);
  const auto steady_ns = [] { return NowNs(CLOCK_MONOTONIC_RAW); };
  if (page->utc_ns == 0) page->utc_ns = NowNs() - steady_ns();
  while (true) {
    for (int i = 0; i < kMailboxes; ++i) {
      Mailbox& box = page->boxes[i];
      const uint64_t asked = box.asked.load(std::memory_order_acquire);
      if (asked == box.answered.load(std::memory_order_relaxed)) continue;
      box.host_ns.store(page->utc_ns + steady_ns(), std::memory_order_relaxed);
      box.answered.store(asked, std::memory_order_release);
    }
  }
}

Distance Ask(int mailbox) {
  Mailbox& box = Map(FindMemory())->boxes[mailbox];
  const int64_t give_up_ns = NowNs() + kGiveUpNs;
  Distance best{.uncertainty_ns = kGiveUpNs};
  for (int exchanges = 0; exchanges < kEnough || best.uncertainty_ns > kGoodNs; ++exchanges) {
    const int64_t before_ns = NowNs();
    const uint64_t number = box.asked.load(std::memory_order_relaxed) + 1;
    box.asked.store(number, std::memory_order_release);
    int64_t now_ns = before_ns;
    while (box.answered.load(std::memory_order_acquire) != number && now_ns < give_up_ns) {
      now_ns = NowNs();
    }
    now_ns = NowNs();
    if (now_ns >= give_up_ns) break;
    // By the machine's clock it was between these two when the host's told its time.
    const int64_t half_ns = (now_ns - before_ns + 1) / 2;
    if (half_ns >= best.uncertainty_ns) continue;
    best = {.at_ns = before_ns,
            .ahead_ns = before_ns + half_ns - box.host_ns.load(std::memory_order_relaxed),
            .uncertainty_ns = half_ns};
  }
  if (best.at_ns == 0) Give("nobody on the host answers");
  return best;
}

}  // namespace tapedeck::lab
