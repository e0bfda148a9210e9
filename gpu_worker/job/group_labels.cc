#include "gpu_worker/job/group_labels.h"

#include "absl/strings/str_cat.h"
#include "absl/time/time.h"

namespace tapedeck::gpu_worker::job {

using services::model::GroupMember;
using services::model::Labels;

Labels GroupLabels(const GroupMember& member, int64_t at_ns, const pace::ClockError& clock) {
  Labels labels;
  services::model::SetGroup(member, &labels);
  labels[std::string(services::model::kStartsAtLabel)] =
      absl::FormatTime("%E4Y-%m-%dT%H:%M:%E9SZ", absl::FromUnixNanos(at_ns), absl::UTCTimeZone());
  labels[std::string(services::model::kClockLabel)] = clock.ClockText();
  labels[std::string(services::model::kClockErrorLabel)] = absl::StrCat(clock.error_ns);
  return labels;
}

std::string ClockNote(const pace::ClockError& clock) {
  const std::string bound = absl::FormatDuration(absl::Nanoseconds(clock.error_ns));
  if (clock.synchronized) {
    return absl::StrCat("by the system clock, which is off by at most ", bound);
  }
  return absl::StrCat("by the system clock, which nothing synchronizes: the kernel's bound of ",
                      bound, " says little");
}

std::string GroupNote(const GroupMember& member, const pace::ClockError& clock) {
  return absl::StrCat("member ", member.number, " of ", member.members, " of ", member.name, ", ",
                      ClockNote(clock));
}

}  // namespace tapedeck::gpu_worker::job
