// What a node answers is checked as what it is asked: its names go into paths, tables and scripts.
#pragma once

#include <string>
#include <utility>

#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "dataplane/printable.h"
#include "services/base/errors.h"
#include "services/model/seams/catalog.h"
#include "services/model/seams/jobs.h"
#include "services/model/words/resource_name.h"

namespace tapedeck::services::client {

inline absl::Status CheckAnswered(const Lun& lun) { return CheckLunName(lun.name); }
inline absl::Status CheckAnswered(const services::Channel& channel) {
  return CheckChannelName(channel.name);
}
inline absl::Status CheckAnswered(const Recording& recording) {
  return CheckRecordingName(recording.name);
}
inline absl::Status CheckAnswered(const Job& job) { return CheckJobName(job.name); }

// INVALID_ARGUMENT (PROTOCOL_VIOLATION): what `node` calls it is no name of such a thing.
template <typename Item>
absl::StatusOr<Item> Believed(const std::string& node, absl::StatusOr<Item> answered) {
  if (!answered.ok() || CheckAnswered(*answered).ok()) return answered;
  return ProtocolViolation(
      {.message = "answer", .field = "name", .peer = node},
      absl::StrCat(node, " names something \"", dataplane::Printable(answered->name, 200),
                   "\", which is not a name"));
}

}  // namespace tapedeck::services::client
