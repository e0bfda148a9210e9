// The storage nodes that jobs may name: a worker calls whomever a job tells it, with a certificate
// of its own.
#pragma once

#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"

namespace tapedeck::gpu_worker {

// At most so many patterns.
inline constexpr size_t kMaxStoragePatterns = 64;

// A value. Any thread.
class AllowedStorage {
 public:
  // Any.
  AllowedStorage() = default;
  // HOST:PORT, with * for any run of characters. INVALID_ARGUMENT.
  static absl::StatusOr<AllowedStorage> Parse(const std::vector<std::string>& patterns);
  // One of them.
  static absl::Status CheckPattern(const std::string& pattern);

  // `address` is HOST:PORT; letters of either case are the same, and no name is looked up.
  // PERMISSION_DENIED (STORAGE_NOT_ALLOWED).
  absl::Status Check(const std::string& address) const;

  // "any", or the patterns, for the log.
  std::string Described() const;
  bool any() const { return patterns_.empty(); }

 private:
  std::vector<std::string> patterns_;  // in small letters
};

}  // namespace tapedeck::gpu_worker
