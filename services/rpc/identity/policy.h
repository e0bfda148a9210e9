// Which identity has which role on what: rules, each of which allows something. What none allows is
// refused.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "absl/base/thread_annotations.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "absl/synchronization/mutex.h"
#include "services/rpc/identity/role.h"

namespace tapedeck::services::identity {

struct Rule {
  std::vector<std::string> identities;  // patterns, see address_patterns.h
  Role role = Role::kNone;
  // luns/PATTERN, with all of its channels, luns/PATTERN/channels/PATTERN, or inlets/PATTERN.
  std::vector<std::string> resources;
  int line = 0;  // of the file; 0: of none
};

// Of one identity at the same time, or in a second.
struct IdentityLimits {
  uint32_t sessions = 16;
  uint32_t calls_per_second = 1000;
};

// What of the node a role is asked for.
enum class Scope {
  kResource,  // the LUN or channel that the call names
  kSome,      // anything: the answer has only what the caller may see
  kAll,       // all LUNs
};

struct Place {
  Scope scope = Scope::kSome;
  absl::string_view resource = {};  // luns/{lun}, with or without /channels/{channel} and more
};

// Immutable but for what it remembers. Any thread.
class Policy {
 public:
  // `revoked` are serial numbers, see below.
  Policy(std::vector<Rule> rules, const IdentityLimits& limits, std::set<std::string> revoked = {})
      : rules_(std::move(rules)), limits_(limits), revoked_(std::move(revoked)) {}

  struct Grant {
    Role role = Role::kNone;  // the highest of viewer to admin
    bool worker = false;
    int line = 0;  // of the rule that gives the role
  };
  Grant On(const std::string& identity, const Place& place) const ABSL_LOCKS_EXCLUDED(mutex_);

  // Whether who proves itself with this certificate, in PEM, may do nothing any more. What cannot
  // be read is revoked too, where anything is.
  bool Revokes(const std::string& certificate) const ABSL_LOCKS_EXCLUDED(mutex_);

  const IdentityLimits& limits() const { return limits_; }

 private:
  std::vector<const Rule*> RulesOf(const std::string& identity) const ABSL_LOCKS_EXCLUDED(mutex_);

  const std::vector<Rule> rules_;
  const IdentityLimits limits_;
  const std::set<std::string> revoked_;
  mutable absl::Mutex mutex_;
  // Of those who asked lately: matching a thousand rules takes longer than a call may.
  mutable std::map<std::string, std::vector<const Rule*>> known_ ABSL_GUARDED_BY(mutex_);
  mutable std::map<std::string, bool> seen_ ABSL_GUARDED_BY(mutex_);  // certificates: revoked?
};

// Why it is no pattern of a rule: the text goes on after "is ". OK where it is one.
absl::Status CheckResourcePattern(absl::string_view pattern);

// Serial numbers of certificates, as a policy lists them: hexadecimal, upper case, without zeros in
// front, as many as the authority gave. RFC 5280 gives them 20 bytes.
inline constexpr size_t kMaxSerialDigits = 40;

// As people write them, with colons or without. INVALID_ARGUMENT, whose text goes on after "is ".
absl::StatusOr<std::string> ParseSerial(absl::string_view text);

// Of a certificate in PEM. INVALID_ARGUMENT where it is none.
absl::StatusOr<std::string> SerialOf(const std::string& certificate);

}  // namespace tapedeck::services::identity
