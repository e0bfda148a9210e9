#include "services/observe/explain/explanation.h"

#include <algorithm>
#include <iterator>
#include <utility>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"

namespace tapedeck::services::explain {
namespace {

using dataplane::Direction;

// Stages this close to the busiest may be busy only because they wait for those after them.
constexpr double kAboutAsBusy = 0.1;
// A thread that is busier has no time for what comes in.
constexpr double kNoTime = 0.8;
// Of all that rails were waited for: a rail alone.
constexpr double kAlone = 2.0 / 3;
// A stage that no other waits for at least so much of its time bounds nothing.
constexpr double kWaitedFor = 0.1;
// Of a shorter transfer the beginning and the end are most.
constexpr double kShortestS = 0.1;
// A stage that is less busy bounds nothing if the sending end has been idle for longer.
constexpr double kBusy = 0.5;
// People are not told of less.
constexpr double kTold = 0.005;

// Stages that share one thread or device, or one alone.
struct Group {
  std::string thread;
  std::vector<StageShare> stages;
  double share = 0;  // busy with any of them; 0: it bounds nothing
};

Group Alone(std::string name, double share) {
  return {.stages = {{.name = std::move(name), .share = share}}, .share = share};
}

// A transfer's groups, in the order of its blocks.
class Groups {
 public:
  Groups(const StageTimes& times, Direction direction) : times_(times), direction_(direction) {
    for (const StageTime& time : times) {
      if (absl::StartsWith(time.what, "send.")) sending_s_ += Seconds(time);
      // Check values are computed beside the session's thread.
      if (absl::StartsWith(time.what, "receive.") && time.what != "receive.crc") {
        receiving_s_ += Seconds(time);
      }
    }
    // In recordings of before, on it.
    if (receiving_s_ > 0) receiving_s_ = std::max(receiving_s_, sending_s_);
    Build();
  }

  // For how long there was room, and nothing to send.
  double idle() const { return Sent("send.idle"); }
  double elapsed_s() const { return std::max(sending_s_, receiving_s_); }
  std::vector<Group>& groups() { return groups_; }
  const std::vector<StageShare>& rails() const { return rails_; }

 private:
  static double Seconds(const StageTime& time) { return static_cast<double>(time.time_ns) / 1e9; }
  // Work that began before the time it is a share of counts to that time's end alone.
  double Share(absl::string_view what, double of_s) const {
    if (of_s <= 0) return 0;
    return std::min(1.0, static_cast<double>(model::TimeOf(times_, what)) / 1e9 / of_s);
  }
  double Sent(absl::string_view what) const { return Share(what, sending_s_); }
  double Received(absl::string_view what) const { return Share(what, receiving_s_); }

  void Build() {
    const bool record = direction_ == Direction::kRecord;
    if (record) {
      AddPipeline(sending_s_);
    } else {
      groups_.push_back(Alone("store", Sent("send.idle")));
    }
    groups_.push_back(Alone("session", Sent("send.thread")));
    AddWay();
    groups_.push_back(Alone("crc", Received("receive.crc")));
    groups_.push_back(Alone("session", Received("receive.thread")));
    if (record) {
      AddStore();
    } else {
      AddPipeline(receiving_s_);
    }
    AddAcknowledge();
  }

  void AddThread(const std::string& thread, std::vector<StageShare> stages) {
    Group group{.thread = thread};
    for (StageShare& stage : stages) {
      group.share += stage.share;
      if (stage.share > 0) group.stages.push_back(std::move(stage));
    }
    group.share = std::min(1.0, group.share);
    if (!group.stages.empty()) groups_.push_back(std::move(group));
  }

  void AddPipeline(double of_s) {
    for (const auto& [thread, prefix] :
         {std::pair("pipeline thread", "work."), std::pair("device", "device.")}) {
      std::vector<StageShare> stages;
      for (const absl::string_view name : model::kPartWords) {
        stages.push_back({std::string(name), Share(absl::StrCat(prefix, name), of_s)});
      }
      AddThread(thread, std::move(stages));
    }
  }

  // The share in which the receiving end had neither room nor time, so that all before it waited.
  double Refused() const {
    const double thread = std::max(Received("receive.crc"), Received("receive.thread"));
    return std::min(1.0, std::max(Received("receive.sink"), thread > kNoTime ? thread : 0));
  }

  // Between the ends.
  void AddWay() {
    const double own = 1 - Refused();
    groups_.push_back(Alone("credits", Sent("send.credits") * own));
    groups_.push_back(Alone("ring", Sent("send.ring") * own));
    const double full = Sent("send.wire") * own;
    double waited = full;
    for (const StageTime& time : times_) {
      if (time.what != "send.rail" || sending_s_ == 0) continue;
      const double share = Seconds(time) / sending_s_ * own;
      waited += share;
      rails_.push_back({.name = time.rail, .share = share + full});
    }
    std::ranges::sort(rails_, std::greater(), &StageShare::share);
    const bool alone = !rails_.empty() && rails_[0].share - full > kAlone * waited;
    groups_.push_back(Alone(alone ? absl::StrCat("rail ", rails_[0].name) : "wire", waited));
  }

  void AddStore() {
    groups_.push_back(Alone("store", Received("receive.sink")));
    Group flush = Alone("flush", Received("store.flush"));
    if (Sent("send.acknowledge") < kWaitedFor * flush.share) flush.share = 0;
    groups_.push_back(std::move(flush));
  }

  // What no stage of the other end explains is the way of the acknowledgement itself.
  void AddAcknowledge() {
    double busy = Refused();
    for (const Group& group : groups_) {
      const absl::string_view name = group.stages[0].name;
      if (name == "flush" || group.thread == "pipeline thread" || group.thread == "device") {
        busy =
            std::max(busy, direction_ == Direction::kRecord && name != "flush" ? 0 : group.share);
      }
    }
    groups_.push_back(Alone("acknowledge", Sent("send.acknowledge") * (1 - std::min(1.0, busy))));
  }

  const StageTimes& times_;
  const Direction direction_;
  double sending_s_ = 0;
  double receiving_s_ = 0;
  std::vector<Group> groups_;
  std::vector<StageShare> rails_;
};

// Of those about as busy as the busiest the last: whoever comes before it may only wait for it.
const Group* Bound(const std::vector<Group>& groups) {
  const Group* bound = nullptr;
  double most = 0;
  for (const Group& group : groups) most = std::max(most, group.share);
  for (const Group& group : groups) {
    if (group.share > 0 && group.share >= most - kAboutAsBusy) bound = &group;
  }
  return bound;
}

// Each with what it is ranked by: the busiest stage of a thread stands for the thread.
std::vector<std::pair<double, StageShare>> Ranked(std::vector<Group>& groups) {
  constexpr double kFirst = 1e9;
  const Group* const bound = Bound(groups);
  std::vector<std::pair<double, StageShare>> ranked;
  for (Group& group : groups) {
    std::ranges::sort(group.stages, std::greater(), &StageShare::share);
    for (StageShare& stage : group.stages) {
      const bool top = &stage == group.stages.data();
      stage.thread = group.thread;
      stage.thread_share = group.thread.empty() ? 0 : group.share;
      const double rank = top ? group.share : stage.share;
      ranked.emplace_back(top && &group == bound ? kFirst : rank, stage);
    }
  }
  std::ranges::stable_sort(ranked, [](const auto& a, const auto& b) { return a.first > b.first; });
  return ranked;
}

std::string Percent(double share) { return absl::StrFormat("%.0f %%", 100 * share); }

std::string HeadOf(const Explanation& explanation) {
  const StageShare& first = explanation.stages[0];
  const std::string busy =
      absl::StrFormat("busy %s of %.2f s", Percent(first.share), explanation.elapsed_s);
  if (explanation.limited_by == kNothing) {
    return absl::StrCat("limited by nothing: it kept up with its source\nbusiest is ", first.name,
                        ": ", busy);
  }
  if (explanation.limited_by == kTooShort) {
    return absl::StrFormat("too short to tell: it took %.3f s\nbusiest was %s: %s",
                           explanation.elapsed_s, first.name, busy);
  }
  return absl::StrCat("limited by ", first.name, ": ", busy);
}

}  // namespace

Explanation Explain(const StageTimes& times, Direction direction) {
  Groups made(times, direction);
  Explanation out{.elapsed_s = made.elapsed_s(), .rails = made.rails()};
  if (out.elapsed_s == 0 || Bound(made.groups()) == nullptr) return out;
  for (auto& [rank, stage] : Ranked(made.groups())) {
    const auto same = std::ranges::find(out.stages, stage.name, &StageShare::name);
    if (same == out.stages.end()) out.stages.push_back(std::move(stage));
  }
  for (StageShare& stage : out.stages) stage.seconds = stage.share * out.elapsed_s;
  for (StageShare& rail : out.rails) rail.seconds = rail.share * out.elapsed_s;
  const StageShare& first = out.stages[0];
  if (out.elapsed_s < kShortestS) {
    out.limited_by = kTooShort;
  } else if (direction == Direction::kRecord && std::max(first.share, first.thread_share) < kBusy &&
             made.idle() >= kBusy) {
    out.limited_by = kNothing;
  } else {
    out.limited_by = first.name;
  }
  out.advice = AdviceFor(out.limited_by, direction);
  return out;
}

std::string TextOf(const Explanation& explanation) {
  const StageShare& first = explanation.stages[0];
  std::string text = HeadOf(explanation);
  if (!first.thread.empty()) {
    absl::StrAppend(&text, ", on the ", first.thread, ", which was busy ",
                    Percent(first.thread_share));
  }
  if (explanation.stages.size() > 1) {
    absl::StrAppend(&text, "\nthen ", explanation.stages[1].name, ": ",
                    Percent(explanation.stages[1].share));
  }
  absl::StrAppend(&text, "\nwhat helps: ", explanation.advice, "\n");
  for (const StageShare& stage : explanation.stages) {
    if (stage.share < kTold) continue;
    absl::StrAppend(&text, absl::StrFormat("  %-12s %6s %9.2f s\n", stage.name,
                                           Percent(stage.share), stage.seconds));
  }
  for (const StageShare& rail : explanation.rails) {
    absl::StrAppend(&text, absl::StrFormat("  rail %-7s %6s %9.2f s, waited for\n", rail.name,
                                           Percent(rail.share), rail.seconds));
  }
  text.pop_back();
  return text;
}

}  // namespace tapedeck::services::explain
