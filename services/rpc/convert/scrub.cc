#include "services/rpc/convert/scrub.h"

#include "services/rpc/convert/values/message.h"

namespace tapedeck::services::convert {

v1::Scrub ToProto(const Scrub& scrub) { return Written<v1::Scrub>(scrub); }
Scrub FromProto(const v1::Scrub& scrub) { return ReadSound<Scrub>(scrub); }

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
