#include "storage_node/recording/writing/block_writer.h"

#include <utility>

#include "absl/strings/str_cat.h"
#include "dataplane/log.h"

namespace tapedeck::storage_node::recording {

using dataplane::flight::Kind;

void BlockWriter::Write(const format::IndexEntry& entry, dataplane::Block block) {
  ++under_way_;
  Try(entry, std::move(block), false);
}

void BlockWriter::Try(const format::IndexEntry& entry, dataplane::Block block, bool again) {
  const format::Place place = PlaceOf(entry.sequence);
  terms_.trail.Stamp(Kind::kStore, {.sequence = entry.sequence, .place = place.member});
  files_.WriteBlock(place, std::move(block),
                    [this, entry, again](const absl::Status& status, dataplane::Block rest) {
                      OnTried(entry, status, std::move(rest), again);
                    });
}

void BlockWriter::OnTried(const format::IndexEntry& entry, const absl::Status& status,
                          dataplane::Block block, bool again) {
  if (!status.ok() && !again && !absl::IsResourceExhausted(status) && !block.empty()) {
    dataplane::Log(dataplane::LogLevel::kWarning, "recording_writer", "write repeated",
                   {{"recording", terms_.recording},
                    {"block", absl::StrCat(entry.sequence)},
                    {"error", std::string(status.message())}});
    return Try(entry, std::move(block), true);
  }
  --under_way_;
  if (status.ok()) {
    terms_.trail.Stamp(Kind::kWritten,
                       {.sequence = entry.sequence, .place = PlaceOf(entry.sequence).member});
  }
  done_(entry, status);
}

}  // namespace tapedeck::storage_node::recording
