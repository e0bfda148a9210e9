// Who may do what on a node: the one place that is asked, by every call and by every session.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "absl/base/thread_annotations.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/synchronization/mutex.h"
#include "absl/time/time.h"
#include "services/base/rate_limiter.h"
#include "services/rpc/identity/caller.h"
#include "services/rpc/identity/methods.h"
#include "services/rpc/identity/policy.h"
#include "services/rpc/identity/tls/file_changes.h"

namespace tapedeck::services::identity {

struct GateSettings {
  std::string policy;        // file; empty: everything to everybody who has a certificate
  bool open_health = false;  // health needs no role
  // Who says for whom it calls is believed where it has the role; and without a policy, if this is
  // set.
  bool for_others = true;
};

// Owned by main, outlives the server. Any thread; nothing here waits, but for Create. A thread of
// its own looks at the policy's file every second, and takes a new one that it found the same at
// two looks: whoever writes it in place may be in the middle of that.
class Gate {
 public:
  // What a session holds for as long as it may go on. The gate outlives it.
  class Permit {
   public:
    Permit(Gate& gate, uint64_t id) : gate_(gate), id_(id) {}
    Permit(const Permit&) = delete;
    Permit& operator=(const Permit&) = delete;
    ~Permit() { gate_.Leave(id_); }

   private:
    Gate& gate_;
    const uint64_t id_;
  };
  using OnLost = std::function<void(const absl::Status& why)>;

  // INVALID_ARGUMENT where the policy is not right.
  static absl::StatusOr<std::unique_ptr<Gate>> Create(const GateSettings& settings);
  ~Gate();

  // Counts a call of an identity that is known for sure. RESOURCE_EXHAUSTED (LIMIT_REACHED): it
  // makes too many.
  absl::Status Count(const std::string& identity);

  // PERMISSION_DENIED (ACCESS_DENIED), which is logged with the rule that comes nearest. Where the
  // right is for no resource, that is not looked at.
  absl::Status Admit(const Caller& caller, const Right& right, absl::string_view resource) const;
  // The same without a word.
  bool Allows(const Caller& caller, const Right& right, absl::string_view resource) const;

  // Admits a session, within the limit for its identity (LIMIT_REACHED). Where the caller loses the
  // right later, `on_lost` is called once, on the gate's thread: it must not wait.
  absl::StatusOr<std::unique_ptr<Permit>> Open(const Caller& caller, const Right& right,
                                               std::string resource, OnLost on_lost)
      ABSL_LOCKS_EXCLUDED(mutex_);

  // What is wrong with the policy's file as it is now; the last good one is in force.
  absl::Status policy_fault() const ABSL_LOCKS_EXCLUDED(mutex_);
  // When the policy in force was read; none where there is none.
  std::optional<absl::Time> policy_loaded() const ABSL_LOCKS_EXCLUDED(mutex_);

 private:
  struct Session {
    Caller caller;
    const Right* right;  // a constant
    std::string resource;
    OnLost on_lost;  // null: was called
  };
  // What keeps somebody out, if anything does.
  struct Lack {
    std::string identity;
    Role needs = Role::kNone;
    Policy::Grant has;
    bool revoked = false;  // its certificate is
  };

  Gate(const GateSettings& settings, std::shared_ptr<const Policy> policy, const FileStamp& stamp);

  static std::string RuleOf(const Lack& lack);
  std::shared_ptr<const Policy> policy() const ABSL_LOCKS_EXCLUDED(mutex_);
  bool LacksNothing(const Caller& caller, const Right& right, absl::string_view resource,
                    Lack& lack) const;
  absl::StatusOr<std::unique_ptr<Permit>> Enter(const Caller& caller, const Right& right,
                                                const std::string& resource, OnLost on_lost)
      ABSL_LOCKS_EXCLUDED(mutex_);
  void Leave(uint64_t id) ABSL_LOCKS_EXCLUDED(mutex_);
  void Watch() ABSL_LOCKS_EXCLUDED(mutex_);
  void Take(const absl::StatusOr<std::string>& text) ABSL_LOCKS_EXCLUDED(mutex_);
  void EndThoseWhoLost() ABSL_LOCKS_EXCLUDED(mutex_);

  const GateSettings settings_;
  // By identity. With fewer, honest callers of a large site would share; each costs 100 bytes or
  // so.
  RateLimiters calls_{4096};
  // The thread's.
  FileStamp stamp_;  // of the policy that was taken last
  TwoLooks looks_;   // at another one

  mutable absl::Mutex mutex_;
  bool stopped_ ABSL_GUARDED_BY(mutex_) = false;
  std::shared_ptr<const Policy> policy_ ABSL_GUARDED_BY(mutex_);  // null: everything is allowed
  absl::Time loaded_ ABSL_GUARDED_BY(mutex_);                     // that policy
  absl::Status fault_ ABSL_GUARDED_BY(mutex_);
  uint64_t opened_ ABSL_GUARDED_BY(mutex_) = 0;
  std::map<uint64_t, Session> sessions_ ABSL_GUARDED_BY(mutex_);

  std::thread thread_;  // none where there is no file
};

}  // namespace tapedeck::services::identity
