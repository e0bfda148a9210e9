// From a run of samples to its power by frequency.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>

#include "absl/status/statusor.h"
#include "dataplane/datatype.h"
#include "services/model/recording/origin.h"
#include "storage_node/view/plan.h"

namespace tapedeck::storage_node::view {

// What a recording's samples are, for pictures of it: samples in time, or spectra that the worker's
// transforms made of them. A value; any thread.
struct Spectra {
  uint32_t points = 0;      // bins of each, from 0 Hz on; 0: samples in time
  bool powers = false;      // |X|^2 instead of X
  uint64_t average = 1;     // transforms that became one
  double full_scale = 1.0;  // |X|^2 of a tone of full scale in the middle of its bin
};

// By its origin and what its samples are. INVALID_ARGUMENT (ARGUMENT_INVALID) if a transform left
// neither of the two, or is unknown: the text begins with `recording` and says why.
absl::StatusOr<Spectra> SpectraOf(const std::string& recording,
                                  const services::model::Origin& origin,
                                  const dataplane::Datatype& datatype, uint64_t block_samples);

// Of one thread.
class Analyzer {
 public:
  virtual ~Analyzer() = default;
  virtual const Steps& steps() const = 0;
  virtual uint32_t columns() const = 0;
  // A power for each column of as many samples, as they are stored, as a step is long; 1 is full
  // scale. Valid until the next call.
  virtual std::span<const double> Powers(std::span<const std::byte> samples) = 0;
};

// For samples in time transforms them; `samples` are those of the recording, which has one at
// least. For spectra takes them as they are, in `columns` or fewer.
absl::StatusOr<std::unique_ptr<Analyzer>> AnalyzerFor(const Spectra& spectra,
                                                      const dataplane::Datatype& datatype,
                                                      uint32_t columns, uint64_t samples);

}  // namespace tapedeck::storage_node::view
