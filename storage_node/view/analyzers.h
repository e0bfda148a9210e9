// From a run of samples to its power by frequency.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>

#include "absl/status/statusor.h"
#include "dataplane/datatype.h"
#include "storage_node/view/plan.h"
#include "storage_node/view/spectra.h"

namespace tapedeck::storage_node::view {

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
