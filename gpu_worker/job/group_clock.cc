#include "gpu_worker/job/group_clock.h"

#include "absl/strings/str_cat.h"
#include "absl/time/time.h"

namespace tapedeck::gpu_worker::job {

using services::model::GroupMember;

services::model::RecordingGroup GroupOf(const GroupMember& member, int64_t at_ns,
                                        const pace::ClockError& clock) {
  return {.id = member.id,
          .name = member.name,
          .number = member.number,
          .members = member.members,
          .starts_at_ns = at_ns,
          .clock = clock.ClockText(),
          .clock_error_ns = clock.error_ns};
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
