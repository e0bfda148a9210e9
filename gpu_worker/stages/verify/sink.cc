#include "gpu_worker/stages/verify/sink.h"

#include <atomic>
#include <memory>

#include "absl/strings/str_cat.h"
#include "dataplane/status_macros.h"
#include "gpu_worker/stages/parameters.h"
#include "gpu_worker/stages/verify/expected.h"
#include "services/base/errors.h"

namespace tapedeck::gpu_worker::stages::verify {
namespace {

class VerifySink final : public SinkStage {
 public:
  // `expected` null: content is not compared.
  VerifySink(const SinkSetup& setup, std::unique_ptr<Expected> expected)
      : block_bytes_(setup.block_bytes), blocks_(setup.blocks), expected_(std::move(expected)) {}

  std::shared_ptr<const std::atomic<uint64_t>> compared() const { return compared_; }

  bool reads_payload() const override { return true; }

  absl::Status Consume(const dataplane::BlockHeader& header,
                       std::span<const std::byte> payload) override {
    if (header.sequence < next_) {
      AddMismatch(absl::DataLossError(absl::StrCat("block ", header.sequence,
                                                   " came again, or after block ", next_ - 1)),
                  header.sequence);
      return absl::OkStatus();
    }
    missing_ += header.sequence - next_;
    next_ = header.sequence + 1;
    if ((header.flags & dataplane::kBlockMissing) != 0) {
      ++missing_;
      return absl::OkStatus();
    }
    if (const absl::Status status = Check(header, payload); !status.ok()) {
      AddMismatch(status, header.sequence);
    }
    return absl::OkStatus();
  }

  absl::Status Close(const absl::Status& cause) override {
    if (!cause.ok()) return absl::OkStatus();
    if (blocks_ > next_) missing_ += blocks_ - next_;
    if (missing_ > 0) {
      return services::BlockDamaged(
          {.blocks = missing_},
          absl::StrCat("verify: ", missing_, " block(s) are missing, ", mismatched_, " differ"));
    }
    return mismatched_ == 0 ? absl::OkStatus() : MismatchError();
  }

 private:
  absl::Status Check(const dataplane::BlockHeader& header, std::span<const std::byte> payload) {
    if (partial_seen_) {
      return absl::DataLossError(
          absl::StrCat("block ", header.sequence, " follows a partial block"));
    }
    partial_seen_ = payload.size() < block_bytes_;
    if (expected_ == nullptr) return absl::OkStatus();
    compared_->fetch_add(1, std::memory_order_relaxed);
    return expected_->Compare(header, payload);
  }

  void AddMismatch(const absl::Status& status, uint64_t sequence) {
    if (mismatched_++ > 0) return;
    first_mismatch_ = std::string(status.message());
    first_mismatch_block_ = sequence;
  }

  absl::Status MismatchError() const {
    return services::WithReason(
        absl::DataLossError(
            absl::StrCat("verify: ", mismatched_,
                         " block(s) differ from what was recorded; the first: ", first_mismatch_)),
        "CONTENT_MISMATCH", {{"block", absl::StrCat(first_mismatch_block_)}});
  }

  const uint64_t block_bytes_;
  const uint64_t blocks_;  // that must come; 0: unknown
  const std::unique_ptr<Expected> expected_;
  const std::shared_ptr<std::atomic<uint64_t>> compared_ =
      std::make_shared<std::atomic<uint64_t>>(0);
  uint64_t next_ = 0;
  uint64_t missing_ = 0;     // never captured, unreadable or not sent
  uint64_t mismatched_ = 0;  // arrived, but not what they must be
  bool partial_seen_ = false;
  std::string first_mismatch_;
  uint64_t first_mismatch_block_ = 0;
};

}  // namespace

absl::StatusOr<Parameters> Parse(const services::StageParameters& given) {
  TD_RETURN_IF_ERROR(ParameterReader("verify", given).Finish());
  return Parameters();
}

Description Describe(const Parameters& /*parameters*/) { return {}; }

absl::StatusOr<MadeSink> Create(const Parameters& /*parameters*/, const SinkSetup& setup) {
  MadeSink out{.needs_order = true};
  services::Note why;
  TD_ASSIGN_OR_RETURN(auto expected, Expected::For(setup, &why));
  if (expected == nullptr) out.notes.push_back(std::move(why));
  auto sink = std::make_unique<VerifySink>(setup, std::move(expected));
  out.compared = sink->compared();
  out.stage = std::move(sink);
  return out;
}

}  // namespace tapedeck::gpu_worker::stages::verify
