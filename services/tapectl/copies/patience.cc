#include "services/tapectl/copies/patience.h"

#include <algorithm>
#include <iostream>

#include "absl/strings/str_cat.h"
#include "dataplane/now.h"
#include "dataplane/status_macros.h"
#include "services/base/errors.h"
#include "services/rpc/client/node_client.h"

namespace tapedeck::services::tapectl {
namespace {

constexpr absl::Duration kShowEvery = absl::Milliseconds(200);

}  // namespace

Patience::Patience(const Program& program, InterruptWatch& interrupt, const std::string& what,
                   uint64_t all)
    : interrupt_(interrupt),
      all_(all),
      begin_(dataplane::SteadyTime()),
      end_(begin_ + program.job_timeout()),
      bar_(what),
      shown_(begin_) {
  // The second one ends nothing: what undoes the transfer is at work.
  interrupt_.OnInterrupt(
      [what] {
        std::cerr << "\ntapectl: the " << what
                  << " is ending; press Ctrl-C a third time to quit at once" << std::endl;
        return true;
      },
      [this] { return interrupted_ = true; });
}

Patience::~Patience() { interrupt_.OnInterrupt(nullptr); }

bool Patience::Show(uint64_t done) {
  const absl::Time now = dataplane::SteadyTime();
  done_ = done;
  if (now - shown_ >= kShowEvery) {
    shown_ = now;
    const double seconds = elapsed_s();
    const double part =
        static_cast<double>(done) / static_cast<double>(std::max<uint64_t>(all_, 1));
    bar_.Show({.fraction = all_ == 0 ? -1 : part,
               .bytes = done,
               .all_bytes = all_,
               .mb_per_s = static_cast<double>(done) / 1e6 / seconds,
               .elapsed_s = seconds});
  }
  late_ = now >= end_;
  return !interrupted_ && !late_;
}

absl::Status Patience::Judged(const absl::Status& status) const {
  if (status.ok() || interrupted_ || !late_) return status;
  return absl::DeadlineExceededError(
      absl::StrCat(std::string(status.message()), "; --timeout expired"));
}

double Patience::elapsed_s() const {
  return absl::ToDoubleSeconds(dataplane::SteadyTime() - begin_);
}

absl::Status WithWayOn(const absl::Status& status, const std::string& what) {
  const auto reason = ReasonOf(status);
  if (!absl::IsCancelled(status) || !reason.has_value()) return status;
  return WithReason(
      absl::CancelledError(absl::StrCat(std::string(status.message()),
                                        "; run the same command again to continue ", what)),
      reason->reason, reason->metadata);
}

absl::StatusOr<storage_session::Peer> StoragePeer(const Program& program) {
  const client::Channel channel =
      client::MakeChannel(program.storage, program.trace, program.credentials);
  TD_ASSIGN_OR_RETURN(NodeInfo node, client::GetNode(channel, program.call_timeout()));
  return storage_session::Peer{.address = program.storage,
                               .trace = program.trace,
                               .credentials = program.credentials,
                               .rails = std::move(node.rails)};
}

}  // namespace tapedeck::services::tapectl
