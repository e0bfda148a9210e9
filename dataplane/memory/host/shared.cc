#include <fcntl.h>
#include <sys/mman.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <string>

#include "absl/strings/escaping.h"
#include "absl/strings/str_cat.h"
#include "dataplane/errors.h"
#include "dataplane/fd.h"
#include "dataplane/memory/available.h"
#include "dataplane/memory/host/memory.h"
#include "dataplane/memory/pages.h"
#include "dataplane/status_macros.h"

namespace tapedeck::dataplane::host {
namespace {

constexpr int kSeals = F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_SEAL;

class SharedMemory final : public Memory {
 public:
  SharedMemory(std::span<std::byte> bytes, Fd fd, const MemoryShare& share)
      : bytes_(bytes), fd_(std::move(fd)), share_(share) {}
  ~SharedMemory() override { munmap(bytes_.data(), bytes_.size()); }
  // What was opened here is not passed on.
  MemoryWindow window() const override {
    return {.bytes = bytes_, .share = fd_.get() < 0 ? nullptr : &share_};
  }

 private:
  const std::span<std::byte> bytes_;
  const Fd fd_;
  const MemoryShare share_;
};

std::string NameOf(const MemoryShare& share) {
  return absl::StrCat("tapedeck-",
                      absl::BytesToHexString(absl::string_view(
                          reinterpret_cast<const char*>(share.name.data()), share.name.size())));
}

absl::StatusOr<std::span<std::byte>> Map(const Fd& fd, size_t bytes) {
  void* address = mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, fd.get(), 0);
  if (address == MAP_FAILED) {
    return LimitReached("address space", "memory",
                        absl::StrCat("mmap of ", bytes, " shared bytes: ", std::strerror(errno),
                                     "; end other sessions, use fewer slots or smaller blocks"));
  }
  return std::span(static_cast<std::byte*>(address), bytes);
}

absl::Status Refused(const MemoryShare& share, absl::string_view why) {
  return absl::PermissionDeniedError(
      absl::StrCat("memory of process ", share.pid, " cannot be opened: ", why));
}

// The descriptor in /proc says what it is open on; a name that only its owner and its peers know
// tells that it is the one meant, whatever else that process has open.
absl::Status CheckName(const MemoryShare& share, const std::string& path) {
  std::string target(128, '\0');
  const ssize_t got = readlink(path.c_str(), target.data(), target.size());
  if (got < 0) {
    return Refused(share, absl::StrCat("readlink ", path, ": ", std::strerror(errno),
                                       "; both ends must run on one machine, in one PID "
                                       "namespace, as the same user"));
  }
  target.resize(static_cast<size_t>(got));
  if (target == absl::StrCat("/memfd:", NameOf(share), " (deleted)")) return absl::OkStatus();
  return Refused(share, "its descriptor is not the named memory");
}

// Memory that shrinks beneath a mapping ends whoever touches it (SIGBUS). What is sealed against
// writing is no window; other seals, which kernels set by themselves (F_SEAL_EXEC), do no harm.
absl::Status CheckSize(const MemoryShare& share, const Fd& fd) {
  struct stat stat {};
  const int seals = fcntl(fd.get(), F_GET_SEALS);
  if (seals < 0 || (seals & F_SEAL_SHRINK) == 0) return Refused(share, "it may shrink");
  if ((seals & (F_SEAL_WRITE | F_SEAL_FUTURE_WRITE)) != 0) {
    return Refused(share, "it is sealed against writing");
  }
  if (fstat(fd.get(), &stat) != 0 || share.bytes == 0 ||
      static_cast<uint64_t>(stat.st_size) < share.bytes) {
    return Refused(share, "it is smaller than announced");
  }
  // A memfd of which nothing was touched takes no memory, whatever its size, but address space
  // here.
  const auto machine =
      static_cast<uint64_t>(sysconf(_SC_PHYS_PAGES)) * static_cast<uint64_t>(sysconf(_SC_PAGESIZE));
  if (share.bytes > machine) return Refused(share, "it is larger than the machine's memory");
  return absl::OkStatus();
}

}  // namespace

absl::StatusOr<std::unique_ptr<Memory>> CreateShared(size_t bytes) {
  TD_RETURN_IF_ERROR(CheckAvailable(
      "host memory", bytes, "memory",
      "end other sessions, use fewer slots or smaller blocks, or give it more memory"));
  MemoryShare share{.kind = MemoryShare::Kind::kMemfd, .bytes = bytes, .pid = getpid()};
  if (getrandom(share.name.data(), share.name.size(), 0) != ssize_t{MemoryShare::kNameBytes}) {
    return absl::InternalError(absl::StrCat("getrandom: ", std::strerror(errno)));
  }
  Fd fd(memfd_create(NameOf(share).c_str(), MFD_CLOEXEC | MFD_ALLOW_SEALING));
  if (fd.get() < 0 || ftruncate(fd.get(), static_cast<off_t>(bytes)) != 0 ||
      fcntl(fd.get(), F_ADD_SEALS, kSeals) != 0) {
    return LimitReached("memory", "memory",
                        absl::StrCat("memfd of ", bytes, " bytes: ", std::strerror(errno)));
  }
  share.fd = fd.get();
  TD_ASSIGN_OR_RETURN(const std::span<std::byte> mapped, Map(fd, bytes));
  auto memory = std::make_unique<SharedMemory>(mapped, std::move(fd), share);
  TD_RETURN_IF_ERROR(MakeResident(mapped));
  return memory;
}

absl::StatusOr<std::unique_ptr<Memory>> OpenShared(const MemoryShare& share) {
  if (share.kind != MemoryShare::Kind::kMemfd || share.pid <= 0 || share.fd < 0) {
    return Refused(share, "it is not host memory");
  }
  const std::string path = absl::StrCat("/proc/", share.pid, "/fd/", share.fd);
  TD_RETURN_IF_ERROR(CheckName(share, path));
  // The descriptor may have been closed and its number used again since: what is opened is looked
  // at before it can do anything, as a device or a pipe does when it is opened.
  const Fd found(open(path.c_str(), O_PATH | O_CLOEXEC));
  if (found.get() < 0) return Refused(share, absl::StrCat("open: ", std::strerror(errno)));
  const std::string here = absl::StrCat("/proc/self/fd/", found.get());
  TD_RETURN_IF_ERROR(CheckName(share, here));
  const Fd fd(open(here.c_str(), O_RDWR | O_CLOEXEC));
  if (fd.get() < 0) return Refused(share, absl::StrCat("open: ", std::strerror(errno)));
  TD_RETURN_IF_ERROR(CheckSize(share, fd));
  TD_ASSIGN_OR_RETURN(const std::span<std::byte> mapped, Map(fd, share.bytes));
  return std::make_unique<SharedMemory>(mapped, Fd(), share);
}

}  // namespace tapedeck::dataplane::host
