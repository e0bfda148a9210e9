#include "gpu_worker/stages/verify/sink.h"

#include "absl/strings/str_cat.h"
#include "services/errors.h"

namespace tapedeck::gpu_worker::stages::verify {
namespace {

class VerifySink final : public SinkStage {
 public:
  VerifySink(SinkSettings settings, std::shared_ptr<Counts> counts)
      : settings_(std::move(settings)), counts_(std::move(counts)) {}

  bool reads_payload() const override { return true; }

  absl::Status Consume(const dataplane::BlockHeader& header,
                       std::span<const std::byte> payload) override {
    if (header.sequence < next_) {
      AddMismatch(absl::DataLossError(absl::StrCat("block ", header.sequence,
                                                   " came again, or after block ", next_ - 1)),
                  header.sequence);
      return absl::OkStatus();
    }
    counts_->missing += header.sequence - next_;
    next_ = header.sequence + 1;
    if ((header.flags & dataplane::kBlockMissing) != 0) {
      ++counts_->missing;
      return absl::OkStatus();
    }
    ++counts_->blocks;
    if (const absl::Status status = Check(header, payload); !status.ok()) {
      AddMismatch(status, header.sequence);
    }
    return absl::OkStatus();
  }

  absl::Status Close(const absl::Status& cause) override {
    if (!cause.ok()) return absl::OkStatus();
    if (settings_.blocks > next_) counts_->missing += settings_.blocks - next_;
    if (counts_->missing > 0) {
      return services::WithReason(
          absl::DataLossError(absl::StrCat("verify: ", counts_->missing.load(),
                                           " block(s) are missing, ", counts_->mismatched.load(),
                                           " differ")),
          "BLOCK_DAMAGED", {{"blocks", absl::StrCat(counts_->missing.load())}});
    }
    return counts_->mismatched == 0 ? absl::OkStatus() : MismatchError();
  }

 private:
  absl::Status Check(const dataplane::BlockHeader& header, std::span<const std::byte> payload) {
    if (partial_seen_) {
      return absl::DataLossError(
          absl::StrCat("block ", header.sequence, " follows a partial block"));
    }
    partial_seen_ = payload.size() < settings_.block_bytes;
    if (settings_.expected == nullptr) return absl::OkStatus();
    return settings_.expected->Compare(header, payload);
  }

  void AddMismatch(const absl::Status& status, uint64_t sequence) {
    if (counts_->mismatched++ > 0) return;
    first_mismatch_ = std::string(status.message());
    first_mismatch_block_ = sequence;
  }

  absl::Status MismatchError() const {
    return services::WithReason(
        absl::DataLossError(
            absl::StrCat("verify: ", counts_->mismatched.load(),
                         " block(s) differ from what was recorded; the first: ", first_mismatch_)),
        "CONTENT_MISMATCH", {{"block", absl::StrCat(first_mismatch_block_)}});
  }

  SinkSettings settings_;
  const std::shared_ptr<Counts> counts_;
  uint64_t next_ = 0;
  bool partial_seen_ = false;
  std::string first_mismatch_;
  uint64_t first_mismatch_block_ = 0;
};

}  // namespace

std::unique_ptr<SinkStage> CreateSink(SinkSettings settings, std::shared_ptr<Counts> counts) {
  return std::make_unique<VerifySink>(std::move(settings), std::move(counts));
}

}  // namespace tapedeck::gpu_worker::stages::verify
