// Which stage bounded the rate of a transfer, from what its ends have spent their time on. The
// theory is in README.md.
#pragma once

#include <string>
#include <tuple>
#include <vector>

#include "dataplane/block/flow.h"
#include "services/model/words/field.h"
#include "services/model/words/stage_time.h"

namespace tapedeck::services::explain {

// A recording that kept up with its source: the sending end had room, and nothing to send.
inline constexpr char kNothing[] = "nothing";
// It was over before any share of its time means something.
inline constexpr char kTooShort[] = "unknown";

struct StageShare {
  std::string name;         // "store", "rail r1"
  double share = 0;         // of the time in which it was busy, or had no room
  double seconds = 0;       // the same
  std::string thread;       // what runs it and others; empty: it is alone
  double thread_share = 0;  // 0: it is alone
};

struct Explanation {
  std::string limited_by;  // the first of the stages, or kNothing or kTooShort
  double elapsed_s = 0;
  std::vector<StageShare> stages;  // the worst first, each once
  std::vector<StageShare> rails;   // those that anything waited for
  std::string advice;              // about the first
};

}  // namespace tapedeck::services::explain

namespace tapedeck::services::model {

template <>
struct Fields<explain::StageShare> {
  static constexpr auto kList = std::make_tuple(
      Report(&explain::StageShare::name, "name"), Report(&explain::StageShare::share, "share"),
      Report(&explain::StageShare::seconds, "seconds"),
      Report(&explain::StageShare::thread, "thread", {.sparse = true}),
      Report(&explain::StageShare::thread_share, "thread_share", {.sparse = true}));
};

// Its message has elapsed_seconds.
template <>
struct Fields<explain::Explanation> {
  static constexpr auto kList =
      std::make_tuple(Report(&explain::Explanation::elapsed_s, "elapsed_s", {.in_some = true}),
                      Report(&explain::Explanation::limited_by, "limited_by"),
                      Report(&explain::Explanation::advice, "advice"),
                      Report(&explain::Explanation::stages, "stages"),
                      Report(&explain::Explanation::rails, "rails"));
};

}  // namespace tapedeck::services::model

namespace tapedeck::services::explain {

// Empty `stages`: nothing is known.
Explanation Explain(const StageTimes& times, dataplane::Direction direction);

// For people, in lines.
std::string TextOf(const Explanation& explanation);

// What helps against the stage that bounds a transfer: one of an Explanation, by its name.
std::string AdviceFor(const std::string& stage, dataplane::Direction direction);

}  // namespace tapedeck::services::explain
