#include "services/rpc/identity/policy_file.h"

#include <set>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "dataplane/status_macros.h"
#include "services/base/config/fault.h"
#include "services/base/config/yaml.h"
#include "services/base/files/input_file.h"
#include "services/rpc/identity/caller.h"
#include "services/rpc/identity/policy.h"
#include "tapedeck/v1/policy.pb.h"

namespace tapedeck::services::identity {
namespace {

using config::Fault;
using config::Places;

// More than the node makes sessions for, and than it can answer.
constexpr uint32_t kMostSessions = 1'000'000;
constexpr uint32_t kMostCalls = 1'000'000;

// The patterns of a rule, each of which `check` has found right.
template <typename Check>
absl::StatusOr<std::vector<std::string>> PatternsOf(
    const Places& places, const std::string& path,
    const google::protobuf::RepeatedPtrField<std::string>& patterns, Check check) {
  if (patterns.empty()) return Fault(places.Of(path), "needs one at least");
  if (static_cast<size_t>(patterns.size()) > kMaxPolicyPatterns) {
    return Fault(places.Of(path), "are more than 64");
  }
  for (int i = 0; i < patterns.size(); ++i) {
    const absl::Status status = check(patterns[i]);
    if (!status.ok()) {
      return Fault(places.Of(absl::StrCat(path, "[", i, "]")),
                   absl::StrCat("is ", status.message()));
    }
  }
  return std::vector<std::string>(patterns.begin(), patterns.end());
}

absl::Status CheckIdentityPattern(const std::string& pattern) {
  if (!pattern.empty() && pattern.size() <= kMaxIdentityBytes) return absl::OkStatus();
  return absl::InvalidArgumentError("not 1 to 256 bytes long");
}

Rule RuleOf(const Places& places, const std::string& path, const v1::PolicyRule& from,
            Faults& faults) {
  Rule rule{.role = static_cast<Role>(from.role()), .line = places.Of(path).line};
  if (from.role() == v1::ROLE_UNSPECIFIED) {
    AddFault(faults,
             Fault(places.Of(path), "has no role: viewer, player, operator, admin or worker"));
  }
  AddFault(faults, Take(PatternsOf(places, absl::StrCat(path, ".identities"), from.identities(),
                                   CheckIdentityPattern),
                        rule.identities));
  AddFault(faults, Take(PatternsOf(places, absl::StrCat(path, ".resources"), from.resources(),
                                   CheckResourcePattern),
                        rule.resources));
  return rule;
}

absl::StatusOr<IdentityLimits> LimitsOf(const Places& places, const v1::PolicyLimits& from) {
  IdentityLimits limits;
  if (from.sessions_per_identity() > kMostSessions) {
    return Fault(places.Of("limits.sessions_per_identity"), "is more than 1000000");
  }
  if (from.calls_per_second_per_identity() > kMostCalls) {
    return Fault(places.Of("limits.calls_per_second_per_identity"), "is more than 1000000");
  }
  if (from.sessions_per_identity() != 0) limits.sessions = from.sessions_per_identity();
  if (from.calls_per_second_per_identity() != 0) {
    limits.calls_per_second = from.calls_per_second_per_identity();
  }
  return limits;
}

absl::StatusOr<std::set<std::string>> RevokedOf(
    const Places& places, const google::protobuf::RepeatedPtrField<std::string>& from) {
  if (static_cast<size_t>(from.size()) > kMaxPolicyRevoked) {
    return Fault(places.Of("revoked"), "are more than 1024");
  }
  std::set<std::string> revoked;
  for (int i = 0; i < from.size(); ++i) {
    const auto serial = ParseSerial(from[i]);
    if (!serial.ok()) {
      return Fault(places.Of(absl::StrCat("revoked[", i, "]")),
                   absl::StrCat("is ", serial.status().message()));
    }
    revoked.insert(*serial);
  }
  return revoked;
}

// One that holds only if no fault was added.
std::shared_ptr<const Policy> PolicyOf(const std::string& path, const std::string& text,
                                       Faults& faults) {
  v1::Policy message;
  const auto places = config::ReadText(path, text, message);
  AddFault(faults, places.status());
  if (!places.ok()) return nullptr;
  if (static_cast<size_t>(message.rules_size()) > kMaxPolicyRules) {
    AddFault(faults, Fault(places->Of("rules"), "are more than 1024"));
    return nullptr;
  }
  if (message.rules().empty() && !places->IsNone("rules")) {
    AddFault(
        faults,
        Fault(places->Of("rules"),
              "has no rule, which denies everything; if that is intended, write 'rules: none'"));
  }
  std::vector<Rule> rules;
  for (int i = 0; i < message.rules_size(); ++i) {
    rules.push_back(RuleOf(*places, absl::StrCat("rules[", i, "]"), message.rules(i), faults));
  }
  IdentityLimits limits;
  std::set<std::string> revoked;
  AddFault(faults, Take(LimitsOf(*places, message.limits()), limits));
  AddFault(faults, Take(RevokedOf(*places, message.revoked()), revoked));
  return std::make_shared<const Policy>(std::move(rules), limits, std::move(revoked));
}

}  // namespace

absl::StatusOr<std::string> ReadPolicyText(const std::string& path) {
  return files::ReadText(path, kMaxPolicyBytes);
}

absl::StatusOr<std::shared_ptr<const Policy>> ReadPolicy(const std::string& path) {
  TD_ASSIGN_OR_RETURN(const std::string text, ReadPolicyText(path));
  return ParsePolicy(path, text);
}

absl::StatusOr<std::shared_ptr<const Policy>> ParsePolicy(const std::string& path,
                                                          const std::string& text) {
  Faults faults;
  auto policy = PolicyOf(path, text, faults);
  if (!faults.empty()) return faults.front();
  return policy;
}

Faults LookAtPolicy(const std::string& path) {
  Faults faults;
  const auto text = ReadPolicyText(path);
  AddFault(faults, text.status());
  if (text.ok()) PolicyOf(path, *text, faults);
  return faults;
}

}  // namespace tapedeck::services::identity
