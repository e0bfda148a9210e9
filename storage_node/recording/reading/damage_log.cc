#include "storage_node/recording/reading/damage_log.h"

#include "absl/strings/str_cat.h"
#include "dataplane/log.h"

namespace tapedeck::storage_node::recording {
namespace {

constexpr uint64_t kMaxLines = 100;

}  // namespace

DamageLog::~DamageLog() {
  if (blocks_ <= kMaxLines) return;
  dataplane::Log(dataplane::LogLevel::kError, "recording_reader", "more blocks damaged",
                 {{"recording", recording_}, {"blocks", absl::StrCat(blocks_)}});
}

void DamageLog::Add(uint64_t sequence, format::DamageKind kind, const std::string& detail) {
  ++meter_->damaged_in_playback;
  if (++blocks_ > kMaxLines) return;
  dataplane::Log(dataplane::LogLevel::kError, "recording_reader", "block damaged",
                 {{"recording", recording_},
                  {"block", absl::StrCat(sequence)},
                  {"kind", std::string(services::model::NameOf(kind))},
                  {"detail", detail}});
}

}  // namespace tapedeck::storage_node::recording
