// What a rail has carried, and what transfers count: of a session, of a job, or of a node.
#pragma once

#include <cstddef>
#include <cstdint>
#include <iterator>
#include <string>
#include <tuple>
#include <utility>

#include "dataplane/transfer/counters.h"
#include "services/model/words/field.h"

namespace tapedeck::services::model {

struct RailProgress {
  std::string name;
  uint64_t blocks = 0;
  uint64_t bytes = 0;
  bool up = false;
  std::string cause;  // of the last failure
  bool operator==(const RailProgress&) const = default;
};

template <>
struct Fields<RailProgress> {
  static constexpr auto kList =
      std::make_tuple(Report(&RailProgress::name, "name"), Report(&RailProgress::blocks, "blocks"),
                      Report(&RailProgress::bytes, "bytes"), Report(&RailProgress::up, "up"),
                      Report(&RailProgress::cause, "cause"));
};

template <>
struct Fields<dataplane::Counters> {
  static constexpr auto kList = []<size_t... kAt>(std::index_sequence<kAt...>) {
    return std::make_tuple(
        Describe(dataplane::kCounters[kAt].member,
                 {.name = dataplane::kCounters[kAt].name, .role = Role::kReported})...);
  }
  (std::make_index_sequence<std::size(dataplane::kCounters)>());
};

}  // namespace tapedeck::services::model
