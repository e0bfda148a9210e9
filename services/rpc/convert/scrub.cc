#include "services/rpc/convert/scrub.h"

#include "services/rpc/convert/catalog.h"

namespace tapedeck::services::convert {

v1::Scrub ToProto(const Scrub& scrub) {
  v1::Scrub out;
  out.set_parent(scrub.parent);
  out.set_state(static_cast<v1::ScrubState>(scrub.state));
  out.set_recording(scrub.recording);
  out.set_recordings(scrub.recordings);
  out.set_blocks(scrub.blocks);
  out.set_damaged(scrub.damaged);
  out.set_repaired(scrub.repaired);
  for (const ScrubFinding& finding : scrub.findings) {
    v1::ScrubFinding& wire = *out.add_findings();
    wire.set_recording(finding.recording);
    *wire.mutable_block() = ToProto(finding.block);
    wire.set_repaired(finding.repaired);
  }
  out.set_cause(scrub.cause);
  return out;
}

Scrub FromProto(const v1::Scrub& scrub) {
  Scrub out{.parent = scrub.parent(),
            .recording = scrub.recording(),
            .recordings = scrub.recordings(),
            .blocks = scrub.blocks(),
            .damaged = scrub.damaged(),
            .repaired = scrub.repaired(),
            .cause = scrub.cause()};
  // A state of a later version is shown as none.
  if (scrub.state() >= v1::SCRUB_STATE_RUNNING && scrub.state() <= v1::SCRUB_STATE_DONE) {
    out.state = static_cast<ScrubState>(scrub.state());
  }
  for (const v1::ScrubFinding& finding : scrub.findings()) {
    out.findings.push_back({.recording = finding.recording(),
                            .block = FromProto(finding.block()),
                            .repaired = finding.repaired()});
  }
  return out;
}

v1::StartScrubRequest ToProto(const ScrubStart& start) {
  v1::StartScrubRequest out;
  out.set_parent(start.parent);
  out.set_rate_bytes_per_s(start.rate_bytes_per_s);
  out.set_restart(start.restart);
  return out;
}

ScrubStart FromProto(const v1::StartScrubRequest& request) {
  return {.parent = request.parent(),
          .rate_bytes_per_s = request.rate_bytes_per_s(),
          .restart = request.restart()};
}

}  // namespace tapedeck::services::convert
