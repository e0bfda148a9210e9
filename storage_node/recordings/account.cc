#include "dataplane/log.h"
#include "dataplane/status_macros.h"
#include "storage_node/recordings/recordings.h"

namespace tapedeck::storage_node::recordings {
namespace {

using Known = recording::Capacity::Known;

bool IsSame(const format::Manifest& a, const format::Manifest& b) {
  return format::EncodeManifest(a) == format::EncodeManifest(b);
}

// Of one that every member has lost, while the catalog has the last word of it.
absl::StatusOr<format::Manifest> WriteLost(Recordings& recordings, luns::OpenLun& lun,
                                           const catalog::ResourceName& name,
                                           const format::Manifest& row) {
  const std::string text = name.ToString();
  const auto lease = recordings.leases().TakeShared(text);
  if (lease == nullptr) return Busy({.name = name, .manifest = row}, "is in use");
  TD_RETURN_IF_ERROR(recordings.MendManifest(text).status());
  TD_ASSIGN_OR_RETURN(auto stored, recordings.OnMembers(lun, name, row));
  dataplane::Log(dataplane::LogLevel::kWarning, "recordings",
                 "manifest written again: no member had it, and the catalog did",
                 {{"recording", text}});
  return stored;
}

// Without a lease, in whose way others would be: a recording that changes meanwhile says itself how
// much it takes.
void ReadOne(Recordings& recordings, luns::OpenLun& lun, const catalog::ResourceName& name) {
  const std::string text = name.ToString();
  const auto row = recordings.catalog()->GetRecording(name);
  if (!row.ok() || !row->has_value()) return;
  auto stored = recordings.OnMembers(lun, name, **row);
  if (absl::IsNotFound(stored.status())) stored = WriteLost(recordings, lun, name, **row);
  if (!stored.ok()) {
    if (!lun.capacity->Confirm(text, lun.TakenBy(**row), Known::kUnread)) return;
    dataplane::Log(dataplane::LogLevel::kWarning, "recordings",
                   "the size of a recording cannot be read from its members: no policy counts it",
                   {{"recording", text}, {"error", std::string(stored.status().message())}});
    return;
  }
  if (!IsSame(*stored, **row)) {
    const auto lease = recordings.leases().TakeShared(text);
    const auto again = recordings.catalog()->GetRecording(name);
    // Who has it, or has changed it, is asked the next time.
    if (lease == nullptr || !again.ok() || !again->has_value() || !IsSame(**again, **row)) return;
    recordings.Correct(name, **row, *stored);
  }
  lun.capacity->Confirm(text, lun.TakenBy(*stored), Known::kByFiles);
}

}  // namespace

void ReadAccount(Recordings& recordings, luns::OpenLun& lun, size_t most) {
  for (const std::string& recording : lun.capacity->KnownByRow(most)) {
    const auto name = catalog::ParseRecordingName(recording);
    if (name.ok()) ReadOne(recordings, lun, *name);
  }
}

}  // namespace tapedeck::storage_node::recordings
