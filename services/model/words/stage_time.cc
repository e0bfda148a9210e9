#include "services/model/words/stage_time.h"

#include <algorithm>
#include <iterator>

namespace tapedeck::services::model {

void Add(const StageTimes& more, StageTimes& to, int factor) {
  for (const StageTime& one : more) {
    auto it = std::ranges::find_if(
        to, [&](const StageTime& old) { return old.what == one.what && old.rail == one.rail; });
    if (it == to.end()) {
      if (to.size() >= kMaxStageTimes) continue;
      it = to.insert(it, {.what = one.what, .rail = one.rail});
    }
    it->time_ns += factor * one.time_ns;
  }
}

void AddKnown(const StageTimes& more, StageTimes& to) {
  for (const StageTime& one : more) {
    if (std::ranges::find(kStageWords, one.what) == std::end(kStageWords)) continue;
    Add({{one.what, "", one.time_ns}}, to);
  }
}

StageTimes Since(const StageTimes& before, StageTimes now) {
  Add(before, now, -1);
  std::erase_if(now, [](const StageTime& one) { return one.time_ns <= 0; });
  return now;
}

int64_t TimeOf(const StageTimes& times, absl::string_view what) {
  int64_t sum_ns = 0;
  for (const StageTime& one : times) sum_ns += one.what == what ? one.time_ns : 0;
  return sum_ns;
}

}  // namespace tapedeck::services::model
