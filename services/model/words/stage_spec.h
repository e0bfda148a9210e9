// A source, transform or sink as a job names it, in plain values. Which there are, and what each
// can be told, is the worker's to say: gpu_worker/stages.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <variant>
#include <vector>

namespace tapedeck::services {

// The arms of tapedeck/v1/pipeline.proto's Parameter, in its order. Where the parameter is no text,
// a text is its value as people write it.
using ParameterValue =
    std::variant<int64_t, uint64_t, double, std::string, bool, std::vector<double>>;
using StageParameters = std::map<std::string, ParameterValue>;

struct StageSpec {
  std::string name;
  StageParameters parameters;

  bool operator==(const StageSpec&) const = default;
};

}  // namespace tapedeck::services
