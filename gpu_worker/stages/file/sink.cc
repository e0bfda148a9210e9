#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <set>
#include <utility>

#include "absl/strings/str_cat.h"
#include "dataplane/datatype.h"
#include "dataplane/status_macros.h"
#include "gpu_worker/stages/file/file.h"
#include "services/base/errors.h"
#include "services/base/files/errors.h"
#include "services/base/files/file_roots.h"
#include "services/base/files/part_file.h"
#include "services/model/recording/lost.h"
#include "services/signal/vita49/context_history.h"

namespace tapedeck::gpu_worker::stages::file {

using services::files::PartFile;
using services::files::WriteFailed;

namespace {

// Samples among those given that were lost before they were recorded: their places hold zeros.
class Losses {
 public:
  Losses(const std::vector<services::Annotation>& annotations, uint64_t sample_bytes)
      : history_(annotations), sample_bytes_(sample_bytes) {
    for (const services::Annotation& one : annotations) {
      if (const auto lost = services::model::LostTogetherIn(one)) together_.insert(*lost);
    }
  }

  void Give(const dataplane::BlockHeader& header) {
    const uint64_t first = header.sample_index;
    const uint64_t end = first + header.payload_bytes / sample_bytes_;
    if (end <= first) return;
    first_ = std::min(first_, first);
    end_ = std::max(end_, end);
    const uint64_t begin = history_.EndOfLoss(first) > first ? first : history_.LossBehind(first);
    for (uint64_t at = begin; at < end; at = history_.LossBehind(at)) {
      samples_ += std::min(end, history_.EndOfLoss(at)) - at;
    }
  }

  // With those that are told together: at most so many are among the samples given.
  uint64_t samples() const {
    uint64_t samples = samples_;
    for (const services::model::LostTogether& one : together_) {
      const uint64_t from = std::max(first_, one.first);
      const uint64_t to = std::max(from, std::min(end_, one.end));
      samples += std::min(one.samples, to - from);
    }
    return samples;
  }

 private:
  const services::vita49::ContextHistory history_;
  std::set<services::model::LostTogether> together_;  // segments have parts of the same
  const uint64_t sample_bytes_;
  uint64_t first_ = UINT64_MAX;
  uint64_t end_ = 0;
  uint64_t samples_ = 0;
};

class FileSink final : public SinkStage {
 public:
  FileSink(std::unique_ptr<PartFile> part, uint64_t block_bytes, Losses losses)
      : part_(std::move(part)), block_bytes_(block_bytes), losses_(std::move(losses)) {}

  // At the end, for the job; it may outlive the sink.
  std::shared_ptr<StageReport> MakeReport() const {
    return std::make_shared<StageReport>([lost = lost_]() -> services::Notes {
      if (*lost == 0) return {};
      return {services::MakeNote(
          "LOST_AS_ZEROS",
          absl::StrCat(lost->load(),
                       " samples of the file are zeros: they were lost before they were "
                       "recorded, as annotations `lost` of the recording say"),
          {{"samples", absl::StrCat(lost->load())}})};
    });
  }

  bool reads_payload() const override { return true; }

  absl::Status Consume(const dataplane::BlockHeader& header,
                       std::span<const std::byte> payload) override {
    const uint64_t offset = header.sequence * block_bytes_;
    const bool missing = (header.flags & dataplane::kBlockMissing) != 0;
    if (missing) {
      ++missing_blocks_;
    } else {
      losses_.Give(header);
    }
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
    *lost_ = losses_.samples();
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
                     ", with holes that read as zeros; tapectl recordings verify lists them"));
  }

  const std::unique_ptr<PartFile> part_;
  const uint64_t block_bytes_;
  Losses losses_;
  const std::shared_ptr<std::atomic<uint64_t>> lost_ = std::make_shared<std::atomic<uint64_t>>(0);
  uint64_t bytes_ = 0;
  uint64_t missing_blocks_ = 0;
  uint64_t damaged_blocks_ = 0;
};

}  // namespace

absl::StatusOr<MadeSink> CreateSink(const SinkParameters& parameters, const SinkSetup& setup) {
  TD_ASSIGN_OR_RETURN(auto part, setup.files.CreatePart(parameters.path, parameters.replace));
  const auto type = dataplane::ParseDatatype(setup.datatype);
  auto sink = std::make_unique<FileSink>(
      std::move(part), setup.block_bytes,
      Losses(setup.annotations, type.ok() ? type->bytes_per_sample() : setup.block_bytes));
  auto report = sink->MakeReport();
  // A transform would spread the zeros over what is good.
  return MadeSink{.stage = std::move(sink),
                  .damaged_blocks = setup.transforms.empty(),
                  .report = std::move(report)};
}

}  // namespace tapedeck::gpu_worker::stages::file
