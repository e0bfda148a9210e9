#include "gpu_worker/job/group_clock.h"

#include <map>
#include <string>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/time/time.h"

namespace tapedeck::gpu_worker::job {

using services::model::GroupMember;

namespace {

std::string TextOf(const pace::ClockError& clock) {
  const std::string bound = absl::FormatDuration(absl::Nanoseconds(clock.error_ns));
  if (clock.synchronized) {
    return absl::StrCat("by the system clock, which is off by at most ", bound);
  }
  return absl::StrCat("by the system clock, which nothing synchronizes: the kernel's bound of ",
                      bound, " says little");
}

std::map<std::string, std::string> FactsOf(const pace::ClockError& clock) {
  return {{"synchronized", clock.synchronized ? "true" : "false"},
          {"clock_error_ns", absl::StrCat(clock.error_ns)}};
}

}  // namespace

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

services::Note BeginNote(const pace::ClockError& clock) {
  return services::MakeNote("BEGINS_BY_CLOCK", absl::StrCat("begins ", TextOf(clock)),
                            FactsOf(clock));
}

services::Note GroupNote(const GroupMember& member, const pace::ClockError& clock) {
  auto facts = FactsOf(clock);
  facts["member"] = absl::StrCat(member.number);
  facts["members"] = absl::StrCat(member.members);
  facts["group"] = member.name;
  return services::MakeNote("GROUP_MEMBER",
                            absl::StrCat("member ", member.number, " of ", member.members, " of ",
                                         member.name, ", ", TextOf(clock)),
                            std::move(facts));
}

}  // namespace tapedeck::gpu_worker::job
