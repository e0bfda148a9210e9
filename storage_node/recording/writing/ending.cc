#include "storage_node/recording/writing/ending.h"

#include <string>

#include "absl/strings/str_cat.h"
#include "services/session/opening/loss.h"

namespace tapedeck::storage_node::recording {
namespace {

std::string CauseText(const absl::Status& status) {
  return absl::StrCat(absl::StatusCodeToString(status.code()), ": ", status.message());
}

}  // namespace

bool Ending::MayGoOn(uint64_t segment_blocks, const WrittenBlocks& written) const {
  if (!error.ok()) return services::session::IsLoss(error);
  if (!cause.ok()) return services::session::IsLoss(cause);
  // Whether more segments follow, who closes one that is full does not know.
  return segment_blocks > 0 && written.mark() >= segment_blocks;
}

void Conclude(const Ending& ending, const WrittenBlocks& written, format::Manifest* manifest) {
  manifest->blocks = written.end();
  manifest->bytes = written.bytes();
  manifest->missing = written.Missing();
  manifest->start_time_ns = written.start_time_ns();
  if (!ending.MayGoOn(manifest->segment_blocks, written)) manifest->resume_token.clear();
  const bool whole = ending.cause.ok() && ending.error.ok() && written.mark() == written.end();
  manifest->state = whole ? services::RecordingState::kSealed : services::RecordingState::kSalvaged;
  if (!ending.error.ok()) {
    manifest->cause = CauseText(ending.error);
  } else if (!ending.cause.ok()) {
    manifest->cause = CauseText(ending.cause);
  } else if (!whole) {
    manifest->cause = "DATA_LOSS: the stream ended with blocks missing";
  }
}

void ConcludeStream(const absl::Status& cause, const std::string& why, format::Manifest* manifest) {
  if (!services::session::IsLoss(cause)) manifest->resume_token.clear();
  manifest->cause = cause.ok() ? why : CauseText(cause);
  if (!cause.ok()) manifest->state = services::RecordingState::kSalvaged;
}

}  // namespace tapedeck::storage_node::recording
