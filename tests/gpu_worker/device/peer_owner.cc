#include "tests/gpu_worker/device/peer_owner.h"

#include <fcntl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <csignal>
#include <filesystem>
#include <vector>

#include "absl/strings/str_cat.h"
#include "dataplane/status_macros.h"
#include "gpu_worker/device/device.h"
#include "gpu_worker/pipeline/device_choice.h"
#include "tests/gpu_worker/device/devices.h"

namespace tapedeck::gpu_worker {
namespace {

template <typename T>
bool ReadAll(int fd, T& value) {
  auto* at = reinterpret_cast<char*>(&value);
  for (size_t done = 0; done < sizeof(value);) {
    const ssize_t got = read(fd, at + done, sizeof(value) - done);
    if (got <= 0) return false;
    done += static_cast<size_t>(got);
  }
  return true;
}

// Standard input and output of the child are pipes.
[[noreturn]] void Become(const std::string& program, const std::string& device, size_t bytes,
                         int input, int output) {
  dup2(input, STDIN_FILENO);
  dup2(output, STDOUT_FILENO);
  const std::string size = absl::StrCat(bytes);
  execl(program.c_str(), program.c_str(), "own", device.c_str(), size.c_str(), nullptr);
  _exit(127);
}

}  // namespace

absl::StatusOr<std::unique_ptr<PeerOwner>> PeerOwner::Start(const std::string& device,
                                                            size_t bytes) {
  const std::string program =
      std::filesystem::read_symlink("/proc/self/exe").parent_path() / "gpu_worker_peer";
  std::array<int, 2> down{};
  std::array<int, 2> up{};
  if (pipe2(down.data(), O_CLOEXEC) != 0 || pipe2(up.data(), O_CLOEXEC) != 0) {
    return absl::UnavailableError("pipe2 failed");
  }
  std::unique_ptr<PeerOwner> owner(new PeerOwner());
  owner->pid_ = fork();
  if (owner->pid_ == 0) Become(program, device, bytes, down[0], up[1]);
  close(down[0]);
  close(up[1]);
  owner->to_ = dataplane::Fd(down[1]);
  owner->from_ = dataplane::Fd(up[0]);
  if (ReadAll(owner->from_.get(), owner->share_)) return owner;
  return absl::UnavailableError(absl::StrCat(program, " on ", device, " has no memory to share"));
}

PeerOwner::~PeerOwner() {
  to_ = dataplane::Fd();
  Kill();
}

void PeerOwner::Kill() {
  if (pid_ <= 0) return;
  kill(pid_, SIGKILL);
  waitpid(pid_, nullptr, 0);
  pid_ = -1;
}

absl::StatusOr<uint32_t> PeerOwner::Crc() {
  uint32_t crc = 0;
  if (write(to_.get(), "c", 1) == 1 && ReadAll(from_.get(), crc)) return crc;
  return absl::UnavailableError("the owner of the memory is gone");
}

absl::Status OwnMemory(const std::string& device, size_t bytes) {
  TD_ASSIGN_OR_RETURN(const pipeline::DeviceChoice choice, pipeline::ChooseDevice(device));
  TD_ASSIGN_OR_RETURN(const auto memory, choice.device->peer()->NewSharedMemory(bytes));
  TD_ASSIGN_OR_RETURN(const auto host, choice.device->NewHostMemory(bytes));
  TD_ASSIGN_OR_RETURN(const auto queue, choice.device->NewQueue());
  const std::span<std::byte> pattern = host->window().bytes;
  for (size_t i = 0; i < bytes; ++i) pattern[i] = OwnedByte(i);
  TD_RETURN_IF_ERROR(
      queue->CopyToDevice(memory->window().bytes.data(), pattern.data(), pattern.size()));
  TD_RETURN_IF_ERROR(Wait(*queue));
  const dataplane::MemoryShare& share = *memory->window().share;
  if (write(STDOUT_FILENO, &share, sizeof(share)) != ssize_t{sizeof(share)}) {
    return absl::UnavailableError("nobody reads");
  }
  auto* const crc = reinterpret_cast<uint32_t*>(pattern.data());
  for (char command = 0; ReadAll(STDIN_FILENO, command);) {
    TD_RETURN_IF_ERROR(queue->Crc32c(crc, memory->window().bytes));
    TD_RETURN_IF_ERROR(Wait(*queue));
    if (write(STDOUT_FILENO, crc, sizeof(*crc)) != ssize_t{sizeof(*crc)}) break;
  }
  return absl::OkStatus();
}

}  // namespace tapedeck::gpu_worker
