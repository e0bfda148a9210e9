#include "services/tapectl/files/import_marks.h"

#include "absl/strings/str_cat.h"
#include "services/base/errors.h"

namespace tapedeck::services::tapectl {
namespace {

bool IsViolation(const absl::Status& status) {
  const auto reason = ReasonOf(status);
  return reason.has_value() && reason->reason == "PROTOCOL_VIOLATION";
}

Note LeftOutNote(size_t left_out, size_t all, const std::string& cause, absl::string_view why) {
  return MakeNote(
      "ANNOTATIONS_LEFT_OUT",
      absl::StrCat(left_out, " of ", all, " annotations are left out: ", why),
      {{"annotations", absl::StrCat(left_out)}, {"of", absl::StrCat(all)}, {"cause", cause}});
}

}  // namespace

void ImportMarks::WriteBeforeSeal(const std::string& recording) {
  Write(recording).IgnoreError();  // behind the seal it is told
}

absl::Status ImportMarks::WriteBehindSeal(const std::string& recording, Notes* notes) {
  absl::Status why;
  size_t left_out = 0;
  for (absl::Status status = Write(recording); !status.ok(); status = Write(recording)) {
    if (IsViolation(status) || !options_.go_on()) return status;
    why.Update(status);
    left_out += Skip(status);
  }
  const size_t all = options_.annotations.size();
  if (marked_.left_out > 0) {
    notes->push_back(
        LeftOutNote(marked_.left_out, all, "NO_SAMPLES", "no segment has their samples"));
  }
  if (left_out > 0) {
    const auto reason = ReasonOf(why);
    notes->push_back(LeftOutNote(
        left_out, all, reason.has_value() ? reason->reason : absl::StatusCodeToString(why.code()),
        why.message()));
  }
  return absl::OkStatus();
}

absl::Status ImportMarks::Write(const std::string& recording) {
  absl::Status status;
  while (status.ok() && marked_.done < options_.annotations.size()) {
    if (!options_.go_on()) return JobCancelled();
    status = recorder_.AnnotateStream(recording, options_.annotations, &marked_);
  }
  return status;
}

size_t ImportMarks::Skip(const absl::Status& failure) {
  // It alone has no room, or no segment.
  const bool alone = options_.in_segments &&
                     (absl::IsResourceExhausted(failure) || absl::IsInvalidArgument(failure));
  const size_t skipped = alone ? 1 : options_.annotations.size() - marked_.done;
  marked_.done += skipped;
  marked_.next_sample = 0;
  return skipped;
}

}  // namespace tapedeck::services::tapectl
