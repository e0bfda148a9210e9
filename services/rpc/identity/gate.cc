#include "services/rpc/identity/gate.h"

#include <algorithm>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "dataplane/executor/thread.h"
#include "dataplane/executor/timed_wait.h"
#include "dataplane/log.h"
#include "dataplane/now.h"
#include "dataplane/printable.h"
#include "dataplane/status_macros.h"
#include "services/base/errors.h"
#include "services/rpc/identity/caller.h"
#include "services/rpc/identity/methods.h"
#include "services/rpc/identity/policy_file.h"

namespace tapedeck::services::identity {
namespace {

using dataplane::Log;
using dataplane::LogLevel;
using model::NameOf;

constexpr char kComponent[] = "services/identity";
constexpr absl::Duration kLookEvery = absl::Seconds(1);
// After a text that is new: with the next look it counts within two seconds.
constexpr absl::Duration kLookAgain = absl::Milliseconds(500);

std::string Word(Role role) { return std::string(NameOf(role)); }

bool Has(const Policy::Grant& grant, Role role) {
  if (role == Role::kWorker) return grant.worker;
  return grant.role >= role || (role == Role::kViewer && grant.worker);
}

// "GetLun".
absl::string_view CallOf(const Right& right) {
  return right.method.substr(right.method.rfind('/') + 1);  // all of it where there is none
}

// A name that no LUN can have is nobody's in particular: who may do it to all may hear why not.
Place PlaceOf(const Right& right, absl::string_view resource) {
  if (right.scope != Scope::kResource) return {.scope = right.scope};
  if (!IsResource(resource)) return {.scope = Scope::kAll};
  return {.scope = Scope::kResource, .resource = resource};
}

}  // namespace

absl::StatusOr<std::unique_ptr<Gate>> Gate::Create(const GateSettings& settings) {
  if (settings.policy.empty()) {
    Log(LogLevel::kInfo, kComponent, "no policy: every certificate may do everything");
    return std::unique_ptr<Gate>(new Gate(settings, nullptr, {}));
  }
  const FileStamp stamp = StampOf(settings.policy);
  TD_ASSIGN_OR_RETURN(auto policy, ReadPolicy(settings.policy));
  std::unique_ptr<Gate> gate(new Gate(settings, std::move(policy), stamp));
  TD_ASSIGN_OR_RETURN(gate->thread_,
                      dataplane::StartThread("policy", [raw = gate.get()] { raw->Watch(); }));
  return gate;
}

Gate::Gate(const GateSettings& settings, std::shared_ptr<const Policy> policy,
           const FileStamp& stamp)
    : settings_(settings),
      stamp_(stamp),
      policy_(std::move(policy)),
      loaded_(dataplane::WallTime()) {}

Gate::~Gate() {
  {
    absl::MutexLock lock(&mutex_);
    stopped_ = true;
  }
  if (thread_.joinable()) thread_.join();
}

std::shared_ptr<const Policy> Gate::policy() const {
  absl::MutexLock lock(&mutex_);
  return policy_;
}

absl::Status Gate::policy_fault() const {
  absl::MutexLock lock(&mutex_);
  return fault_;
}

std::optional<absl::Time> Gate::policy_loaded() const {
  absl::MutexLock lock(&mutex_);
  if (policy_ == nullptr) return std::nullopt;
  return loaded_;
}

absl::Status Gate::Count(const std::string& identity) {
  const auto rules = policy();
  const uint32_t most = (rules == nullptr ? IdentityLimits() : rules->limits()).calls_per_second;
  // Two seconds' worth may come at once.
  const RateLimit limit{.each_ns = dataplane::kSecondNs / most, .at_once = 2 * int64_t{most}};
  if (calls_.Take(identity, limit, dataplane::SystemClock().NowNs()) == 0) return absl::OkStatus();
  return LimitReached(
      most, "limits.calls_per_second_per_identity",
      absl::StrCat(identity, " makes more than ", most,
                   " calls a second; limits.calls_per_second_per_identity of the policy allows "
                   "more"));
}

bool Gate::LacksNothing(const Caller& caller, const Right& right, absl::string_view resource,
                        Lack& lack) const {
  const auto rules = policy();
  if (!caller.acting_for.empty() && rules == nullptr && !settings_.for_others) {
    lack = {.identity = caller.peer, .needs = Role::kWorker, .has = {}};
    return false;
  }
  if (rules != nullptr && rules->Revokes(caller.certificate)) {
    lack = {.identity = caller.peer, .needs = right.least, .has = {}, .revoked = true};
    return false;
  }
  if (settings_.open_health && absl::StartsWith(right.method, "grpc.health.")) return true;
  if (rules == nullptr) return true;
  const Place place = PlaceOf(right, resource);
  const auto may = [&](const std::string& identity, Role role) {
    lack = {.identity = identity, .needs = role, .has = rules->On(identity, place)};
    return Has(lack.has, role);
  };
  if (!caller.acting_for.empty() && !may(caller.peer, Role::kWorker)) return false;
  return may(caller.who(), right.least);
}

bool Gate::Allows(const Caller& caller, const Right& right, absl::string_view resource) const {
  Lack unused;
  return LacksNothing(caller, right, resource, unused);
}

std::string Gate::RuleOf(const Lack& lack) {
  if (lack.revoked) return "revoked";
  return lack.has.line == 0 ? "none" : absl::StrCat("line ", lack.has.line);
}

absl::Status Gate::Admit(const Caller& caller, const Right& right,
                         absl::string_view resource) const {
  Lack lack;
  if (LacksNothing(caller, right, resource, lack)) return absl::OkStatus();
  const std::string on = right.scope == Scope::kResource ? dataplane::Printable(resource, 256)
                         : right.scope == Scope::kAll    ? "luns/*"
                                                         : "any LUN or channel";
  const std::string has =
      lack.has.role == Role::kNone && lack.has.worker ? "worker" : Word(lack.has.role);
  Log(LogLevel::kWarning, kComponent, "refused",
      {{"identity", lack.identity},
       {"peer", caller.peer},
       {"call", std::string(right.method)},
       {"resource", on},
       {"needs", Word(lack.needs)},
       {"has", has},
       {"rule", RuleOf(lack)}});
  if (lack.revoked) {
    return AccessDenied({.identity = lack.identity, .role = Word(lack.needs), .resource = on},
                        absl::StrCat("the certificate of ", lack.identity, " is revoked"));
  }
  return AccessDenied(
      {.identity = lack.identity, .role = Word(lack.needs), .resource = on},
      absl::StrCat(lack.identity, " may not ",
                   lack.needs == Role::kWorker ? "call for others" : CallOf(right), " on ", on,
                   ": that needs the role ", Word(lack.needs), ", and it has ", has));
}

absl::StatusOr<std::unique_ptr<Gate::Permit>> Gate::Open(const Caller& caller, const Right& right,
                                                         std::string resource, OnLost on_lost) {
  TD_ASSIGN_OR_RETURN(auto permit, Enter(caller, right, resource, std::move(on_lost)));
  // The policy may have changed before the session was among those that are looked at then.
  TD_RETURN_IF_ERROR(Admit(caller, right, resource));
  return permit;
}

absl::StatusOr<std::unique_ptr<Gate::Permit>> Gate::Enter(const Caller& caller, const Right& right,
                                                          const std::string& resource,
                                                          OnLost on_lost) {
  TD_RETURN_IF_ERROR(Admit(caller, right, resource));
  absl::MutexLock lock(&mutex_);
  const uint32_t most = (policy_ == nullptr ? IdentityLimits() : policy_->limits()).sessions;
  const auto open = std::ranges::count_if(
      sessions_, [&](const auto& entry) { return entry.second.caller.who() == caller.who(); });
  if (open >= static_cast<int64_t>(most)) {
    return LimitReached(most, "limits.sessions_per_identity",
                        absl::StrCat(caller.who(), " has ", most,
                                     " sessions already; limits.sessions_per_identity of the "
                                     "policy allows more"));
  }
  const uint64_t id = opened_++;
  sessions_[id] = {caller, &right, resource, std::move(on_lost)};
  return std::make_unique<Permit>(*this, id);
}

void Gate::Leave(uint64_t id) {
  Session gone;  // destroyed without the lock
  absl::MutexLock lock(&mutex_);
  const auto found = sessions_.find(id);
  gone = std::move(found->second);
  sessions_.erase(found);
}

void Gate::Watch() {
  absl::Duration next = kLookEvery;
  while (true) {
    {
      absl::MutexLock lock(&mutex_);
      if (dataplane::AwaitFor(mutex_, absl::Condition(&stopped_), next)) return;
    }
    next = kLookEvery;
    const FileStamp now = StampOf(settings_.policy);
    if (now == stamp_) {
      looks_.Forget();
      continue;
    }
    const auto text = ReadPolicyText(settings_.policy);
    if (!looks_.Agree(text)) {
      next = kLookAgain;
      continue;
    }
    stamp_ = now;
    looks_.Forget();
    Take(text);
  }
}

void Gate::Take(const absl::StatusOr<std::string>& text) {
  auto fresh = text.ok() ? ParsePolicy(settings_.policy, *text) : text.status();
  {
    absl::MutexLock lock(&mutex_);
    fault_ = fresh.status();
    if (fresh.ok()) {
      policy_ = *fresh;
      loaded_ = dataplane::WallTime();
    }
  }
  if (!fresh.ok()) {
    return Log(LogLevel::kError, kComponent, "the new policy file is wrong: the old policy stays",
               {{"error", std::string(fresh.status().message())}});
  }
  Log(LogLevel::kInfo, kComponent, "new policy", {{"file", settings_.policy}});
  EndThoseWhoLost();
}

void Gate::EndThoseWhoLost() {
  std::vector<std::pair<uint64_t, Session>> sessions;
  {
    absl::MutexLock lock(&mutex_);
    sessions.assign(sessions_.begin(), sessions_.end());
  }
  for (const auto& [id, session] : sessions) {
    if (session.on_lost == nullptr || Allows(session.caller, *session.right, session.resource)) {
      continue;
    }
    session.on_lost(Admit(session.caller, *session.right, session.resource));
    absl::MutexLock lock(&mutex_);
    const auto found = sessions_.find(id);
    if (found != sessions_.end()) found->second.on_lost = nullptr;
  }
}

}  // namespace tapedeck::services::identity
