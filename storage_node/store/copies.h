// The health of a store that keeps two copies of everything, and how a scrub makes both whole.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "absl/functional/function_ref.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "storage_node/store/known.h"

namespace tapedeck::storage_node::store {

// Any thread; does not wait. Outlives its store.
class CopyHealth {
 public:
  virtual ~CopyHealth() = default;
  // Why one copy is not whole; OK: both are.
  virtual absl::Status lacking() const = 0;
  // Whether that copy lacks something that the other one has.
  virtual bool behind(uint32_t copy) const = 0;
};

// Any thread.
class Copies {
 public:
  virtual ~Copies() = default;

  virtual std::shared_ptr<const CopyHealth> health() const = 0;

  // The members that are there, as paths; the first is whole.
  virtual std::vector<std::string> roots() const = 0;

  // The same, before something is written there: a member that is not there is marked as behind.
  // Waits for the disk.
  virtual absl::StatusOr<std::vector<std::string>> RootsToWrite() = 0;

  // Of what was done on one copy alone since the store was opened: it grows with each.
  virtual uint64_t omissions() const = 0;

  // The copy that is behind has by now all that the other has: what it has beyond that is removed,
  // and it counts as whole, durably. OK where both are. UNAVAILABLE: its member is not there, or
  // something was done without it since `omissions` were, or still is. `known` says which channels
  // and recordings there are, those that are being made too. Waits for the disk.
  using NowKnown = absl::FunctionRef<absl::StatusOr<Known>()>;
  virtual absl::Status Trust(uint64_t omissions, NowKnown known) = 0;
};

}  // namespace tapedeck::storage_node::store
