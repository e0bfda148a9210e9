// The policy as a file, of the schema in tapedeck/v1/policy.proto.
#pragma once

#include <memory>
#include <string>

#include "absl/status/statusor.h"
#include "services/base/faults.h"
#include "services/rpc/identity/policy.h"

namespace tapedeck::services::identity {

inline constexpr size_t kMaxPolicyBytes = 64 << 10;
inline constexpr size_t kMaxPolicyRules = 1024;
// Patterns of one rule, of identities or of resources.
inline constexpr size_t kMaxPolicyPatterns = 64;
inline constexpr size_t kMaxPolicyRevoked = 1024;

// The text of the file, unread. May wait for a disk. FILE_NOT_FOUND or FILE_INVALID of what is no
// such file.
absl::StatusOr<std::string> ReadPolicyText(const std::string& path);

// INVALID_ARGUMENT (ARGUMENT_INVALID) names the file, the line and the key. A text without a rule
// is refused, unless it says "rules: none": an empty file is what an editor or a full disk leaves.
absl::StatusOr<std::shared_ptr<const Policy>> ParsePolicy(const std::string& path,
                                                          const std::string& text);

// Every fault of the file, with the errors of both calls. A file that is no YAML of the schema has
// one.
Faults LookAtPolicy(const std::string& path);

// Both.
absl::StatusOr<std::shared_ptr<const Policy>> ReadPolicy(const std::string& path);

}  // namespace tapedeck::services::identity
