#include "storage_node/admission/session_host.h"

#include <algorithm>
#include <memory>
#include <utility>

#include "absl/strings/str_cat.h"
#include "dataplane/status_macros.h"
#include "services/base/errors.h"
#include "services/base/process/surroundings.h"

namespace tapedeck::storage_node::admission {
namespace {

using services::session::Admission;
using services::session::AdmissionWatch;
using services::session::OnAdmitted;
using services::session::Open;

bool IsPlayback(const Open& open) {
  return open.direction == services::session::Direction::kPlayback;
}

// Of what is to be recorded or played.
absl::StatusOr<std::string> LunOf(const Open& open) {
  TD_ASSIGN_OR_RETURN(const catalog::ResourceName name,
                      IsPlayback(open) ? catalog::ParseRecordingName(open.recording)
                                       : catalog::ParseChannelName(open.channel));
  return name.lun;
}

// How long the session before of a recording that goes on may take to end, and how often it is
// looked at: then the worker is told, and may try again.
constexpr int64_t kGiveWayNs = 5 * dataplane::kSecondNs;
constexpr int64_t kLookAgainNs = 50 * dataplane::kMillisecondNs;

bool IsBusy(const absl::Status& status) {
  const auto reason = services::ReasonOf(status);
  return reason.has_value() && reason->reason == "RECORDING_BUSY";
}

// Descriptors of a session on each member: data, index, and a manifest or what is read beside.
constexpr uint64_t kForMember = 4;
// Beside them, so that sessions that run end well: each replaces its manifest then, and gRPC and
// rails have new connections.
constexpr uint64_t kForEnds = 32;

// Larger rings wait for each other and not for smaller ones.
constexpr uint64_t kLargeRing = uint64_t{256} << 20;

// One session on its way through the queues. Held by what is queued.
struct Admittance : public std::enable_shared_from_this<Admittance> {
  NodeResources& resources;
  const Open open;
  const std::string lun;
  dataplane::Executor& executor;
  const std::shared_ptr<AdmissionWatch> watch;
  const OnAdmitted admitted;
  const int64_t start_ns;
  SessionPlan plan;

  Admittance(NodeResources& node, Open asked, std::string lun_id, dataplane::Executor& on,
             std::shared_ptr<AdmissionWatch> watched, OnAdmitted then)
      : resources(node),
        open(std::move(asked)),
        lun(std::move(lun_id)),
        executor(on),
        watch(std::move(watched)),
        admitted(std::move(then)),
        start_ns(on.clock().NowNs()) {}

  absl::Status Begin() {
    watch->Say(absl::StrCat("waiting for LUN ", lun));
    return resources.luns.queues().Of(lun)->TryRun([self = shared_from_this()] { self->Look(); });
  }

  void Look() {
    if (watch->left()) return;
    if (const absl::Status enough = CheckDescriptors(); !enough.ok()) return End(enough);
    auto planned = IsPlayback(open) ? PlanPlayback(resources, open, executor)
                                    : PlanRecord(resources, open, executor);
    if (!planned.ok() && MayBecomeFree(planned.status())) return LookAgain();
    if (!planned.ok()) return End(planned.status());
    plan = *std::move(planned);
    if (!plan.triggered.empty()) {
      resources.triggers.AddPreparing(plan.triggered, {shared_from_this(), watch.get()});
    }
    watch->Say("waiting for memory");
    const bool large = plan.ring.bytes(resources.rings) > kLargeRing;
    resources.luns.ring_queues().Of(large ? "large rings" : lun)->Run([self = shared_from_this()] {
      self->MakeRing();
    });
  }

  absl::Status CheckDescriptors() const {
    const auto found = resources.luns.Find(lun);
    if (!found.ok()) return absl::OkStatus();  // the plan says why
    const uint64_t members = std::max<uint64_t>((*found)->config->members.size(), 1);
    return services::CheckDescriptorsLeft(kForEnds + members * kForMember);
  }

  bool MayBecomeFree(const absl::Status& status) const {
    return open.resume.has_value() && IsBusy(status) &&
           executor.clock().NowNs() - start_ns < kGiveWayNs;
  }

  // The queue is needed by the session that ends.
  void LookAgain() {
    watch->Say("waiting for the recording's previous session to end");
    executor.PostAfter(kLookAgainNs, [self = shared_from_this()] {
      if (self->watch->left()) return;  // the node may be gone
      self->resources.luns.queues().Of(self->lun)->Run([self] { self->Look(); });
    });
  }

  void MakeRing() {
    auto ring = MakeSessionRing(resources.rings, plan.ring, [this](size_t done, size_t all) {
      watch->Say(absl::StrCat("preparing memory, ", done * 100 / all, " %"),
                 static_cast<double>(done) / static_cast<double>(all));
      return !watch->left();
    });
    if (!ring.ok()) return End(ring.status());
    watch->Say(absl::StrCat("opening files of LUN ", lun));
    resources.luns.queues().Of(lun)->Run(
        [self = shared_from_this(), fitted = *std::move(ring)]() mutable {
          if (!self->watch->left()) self->End(self->plan.open(std::move(fitted)));
        });
  }

  // What a session that has left would have had goes here, while the node is there.
  void End(absl::StatusOr<MakeAdmission> made) {
    if (watch->left()) return;
    executor.Post([self = shared_from_this(), opened = std::move(made)]() mutable {
      if (self->watch->left()) return;  // what is open goes again
      auto made = opened.ok() ? absl::StatusOr<Admission>((*opened)()) : opened.status();
      if (!self->plan.triggered.empty()) {
        self->resources.triggers.EndPreparing(self->plan.triggered, *self->watch);
      }
      self->admitted(std::move(made));
    });
  }
};

}  // namespace

void RecordingHost::Admit(const Open& open, dataplane::Executor& executor,
                          std::shared_ptr<AdmissionWatch> watch, OnAdmitted admitted) {
  const auto lun = LunOf(open);
  if (!lun.ok()) return admitted(lun.status());
  absl::Status status = resources_.luns.CheckExists(*lun);
  if (status.ok()) {
    status =
        std::make_shared<Admittance>(resources_, open, *lun, executor, std::move(watch), admitted)
            ->Begin();
  }
  if (!status.ok()) admitted(status);
}

}  // namespace tapedeck::storage_node::admission
