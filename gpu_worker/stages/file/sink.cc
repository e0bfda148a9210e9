#include "gpu_worker/stages/file/sink.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>

#include "dataplane/status_macros.h"
#include "gpu_worker/stages/file/errors.h"
#include "gpu_worker/stages/file/owned_fd.h"

namespace tapedeck::gpu_worker::stages::file {
namespace {

class FileSink final : public SinkStage {
 public:
  FileSink(std::string path, OwnedFd fd, bool regular, uint64_t block_bytes)
      : path_(std::move(path)), fd_(std::move(fd)), regular_(regular), block_bytes_(block_bytes) {}

  bool reads_payload() const override { return true; }

  absl::Status Consume(const dataplane::BlockHeader& header,
                       std::span<const std::byte> payload) override {
    const uint64_t offset = header.sequence * block_bytes_;
    const bool missing = (header.flags & dataplane::kBlockMissing) != 0;
    if (missing) ++missing_blocks_;
    bytes_ = std::max(bytes_, offset + (missing ? block_bytes_ : payload.size()));
    return WriteAll(payload, offset);
  }

  absl::Status Close(const absl::Status& cause) override {
    if (regular_ && ftruncate(fd_.get(), static_cast<off_t>(bytes_)) != 0) {
      return Failed("ftruncate", errno);
    }
    if (regular_ && fsync(fd_.get()) != 0) return Failed("fsync", errno);
    if (!cause.ok() || missing_blocks_ == 0) return absl::OkStatus();
    return services::WithReason(
        absl::DataLossError(absl::StrCat("file sink ", path_, ": ", missing_blocks_,
                                         " block(s) of the recording are missing; there the file "
                                         "has holes that read as zeros")),
        "BLOCK_DAMAGED", {{"blocks", absl::StrCat(missing_blocks_)}});
  }

 private:
  absl::Status WriteAll(std::span<const std::byte> bytes, uint64_t offset) {
    while (!bytes.empty()) {
      const ssize_t put = pwrite(fd_.get(), bytes.data(), bytes.size(), static_cast<off_t>(offset));
      if (put < 0 && errno == EINTR) continue;
      if (put < 0) return Failed("pwrite", errno);
      bytes = bytes.subspan(static_cast<size_t>(put));
      offset += static_cast<uint64_t>(put);
    }
    return absl::OkStatus();
  }

  absl::Status Failed(const char* call, int error) const {
    const std::string text = absl::StrCat(call, " ", path_, ": ", std::strerror(error));
    const bool full = error == ENOSPC || error == EDQUOT || error == EFBIG;
    return services::WithReason(
        full ? absl::ResourceExhaustedError(text) : absl::InternalError(text), "STORE_IO",
        {{"member", path_}, {"operation", call}});
  }

  const std::string path_;
  const OwnedFd fd_;
  const bool regular_;  // not /dev/null and the like, which cannot be truncated or synced
  const uint64_t block_bytes_;
  uint64_t bytes_ = 0;
  uint64_t missing_blocks_ = 0;
};

}  // namespace

absl::StatusOr<std::unique_ptr<SinkStage>> CreateSink(const std::string& path,
                                                      uint64_t block_bytes) {
  OwnedFd fd(open(path.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0644));
  if (fd.get() < 0) return NotFound(path, "open for writing", errno);
  struct stat info = {};
  if (fstat(fd.get(), &info) != 0) return NotFound(path, "fstat", errno);
  return std::make_unique<FileSink>(path, std::move(fd), S_ISREG(info.st_mode), block_bytes);
}

}  // namespace tapedeck::gpu_worker::stages::file
