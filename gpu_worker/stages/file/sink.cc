#include "gpu_worker/stages/file/sink.h"

#include <unistd.h>

#include <algorithm>
#include <utility>

#include "dataplane/status_macros.h"
#include "services/errors.h"
#include "services/files/errors.h"
#include "services/files/file_roots.h"
#include "services/files/part_file.h"

namespace tapedeck::gpu_worker::stages::file {

using services::files::PartFile;
using services::files::WriteFailed;

namespace {

class FileSink final : public SinkStage {
 public:
  FileSink(std::unique_ptr<PartFile> part, uint64_t block_bytes)
      : part_(std::move(part)), block_bytes_(block_bytes) {}

  bool reads_payload() const override { return true; }

  absl::Status Consume(const dataplane::BlockHeader& header,
                       std::span<const std::byte> payload) override {
    const uint64_t offset = header.sequence * block_bytes_;
    const bool missing = (header.flags & dataplane::kBlockMissing) != 0;
    if (missing) ++missing_blocks_;
    if ((header.flags & dataplane::kBlockDamaged) != 0) ++damaged_blocks_;
    bytes_ = std::max(bytes_, offset + (missing ? block_bytes_ : payload.size()));
    return WriteAll(payload, offset);
  }

  absl::Status Close(const absl::Status& cause) override {
    if (!cause.ok()) {
      part_->Remove();
      return absl::OkStatus();
    }
    if (ftruncate(part_->fd(), static_cast<off_t>(bytes_)) != 0) {
      return WriteFailed(part_->path(), "ftruncate", errno);
    }
    return missing_blocks_ + damaged_blocks_ == 0 ? part_->Publish() : KeepWithHoles();
  }

 private:
  absl::Status WriteAll(std::span<const std::byte> bytes, uint64_t offset) {
    while (!bytes.empty()) {
      const ssize_t put =
          pwrite(part_->fd(), bytes.data(), bytes.size(), static_cast<off_t>(offset));
      if (put < 0 && errno == EINTR) continue;
      if (put < 0) return WriteFailed(part_->path(), "pwrite", errno);
      bytes = bytes.subspan(static_cast<size_t>(put));
      offset += static_cast<uint64_t>(put);
    }
    return absl::OkStatus();
  }

  // Playing again would bring no more: what there is stays, under the name it has.
  absl::Status KeepWithHoles() {
    TD_RETURN_IF_ERROR(part_->Keep());
    return services::BlockDamaged(
        {.blocks = missing_blocks_ + damaged_blocks_, .path = part_->path()},
        absl::StrCat("file sink: ", missing_blocks_, " block(s) of the recording are missing and ",
                     damaged_blocks_, " damaged; the rest is in ", part_->path(),
                     ", with holes that read as zeros; recordings verify says where they are"));
  }

  const std::unique_ptr<PartFile> part_;
  const uint64_t block_bytes_;
  uint64_t bytes_ = 0;
  uint64_t missing_blocks_ = 0;
  uint64_t damaged_blocks_ = 0;
};

}  // namespace

absl::StatusOr<MadeSink> CreateSink(const SinkParameters& parameters, const SinkPlace& place) {
  TD_ASSIGN_OR_RETURN(auto part, place.files.CreatePart(parameters.path, parameters.replace));
  // A transform would spread the zeros over what is good.
  return MadeSink{.stage = std::make_unique<FileSink>(std::move(part), place.block_bytes),
                  .damaged_blocks = place.transforms.empty()};
}

}  // namespace tapedeck::gpu_worker::stages::file
