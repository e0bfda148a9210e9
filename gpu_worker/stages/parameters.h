// Reads what a stage is told: each parameter by its name, into a variable that holds the default.
// The first error is kept, and Finish answers it.
#pragma once

#include <concepts>
#include <cstdint>
#include <limits>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/string_view.h"
#include "services/model/words/stage_spec.h"

namespace tapedeck::gpu_worker::stages {

// One thread; goes before what it reads from.
class ParameterReader {
 public:
  // `stage` is the name that errors give it.
  ParameterReader(absl::string_view stage, const services::StageParameters& parameters)
      : stage_(stage), parameters_(parameters) {}

  // A whole number that `value` can hold.
  template <std::unsigned_integral T>
  void Whole(absl::string_view name, T& value) {
    uint64_t read = value;
    ReadWhole(name, read, std::numeric_limits<T>::max());
    value = static_cast<T>(read);
  }
  // A finite number.
  void Number(absl::string_view name, double& value, double least, double most);
  void Numbers(absl::string_view name, std::vector<double>& values, double least, double most,
               size_t most_values);
  void Flag(absl::string_view name, bool& value);
  void Text(absl::string_view name, std::string& value);

  // A rule of the stage's own about a parameter that has been read: what is `allowed`, as in "it
  // must be ...".
  void Require(bool kept, absl::string_view name, absl::string_view allowed);

  // INVALID_ARGUMENT (ARGUMENT_INVALID): there is a parameter that was not asked for (the error
  // names the nearest that was), or one is not what it must be (with its value and what is
  // allowed). The metadata's field is STAGE.PARAMETER.
  absl::Status Finish() const;

 private:
  const services::ParameterValue* Find(absl::string_view name);
  void ReadWhole(absl::string_view name, uint64_t& value, uint64_t most);
  absl::Status Wrong(absl::string_view name, absl::string_view text) const;
  absl::Status Unknown(const std::string& name) const;

  const std::string stage_;
  const services::StageParameters& parameters_;
  std::vector<std::string> known_;
  absl::Status error_;
};

}  // namespace tapedeck::gpu_worker::stages
