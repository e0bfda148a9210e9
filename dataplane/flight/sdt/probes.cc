#include "dataplane/flight/probes.h"

#include <sys/sdt.h>

// A probe's name is part of its machine code: each kind has a line of its own.
#define TD_PROBE(kind, name)                                                                 \
  case Kind::kind:                                                                           \
    DTRACE_PROBE4(tapedeck, name, entry.trail, entry.sequence, entry.place, entry.argument); \
    break

namespace tapedeck::dataplane::flight {

void Fire(const Entry& entry) {
  switch (entry.kind) {
    TD_PROBE(kMade, made);
    TD_PROBE(kComputed, computed);
    TD_PROBE(kReady, ready);
    TD_PROBE(kGiven, given);
    TD_PROBE(kRail, rail);
    TD_PROBE(kTaken, taken);
    TD_PROBE(kSent, sent);
    TD_PROBE(kReceived, received);
    TD_PROBE(kAcknowledged, acknowledged);
    TD_PROBE(kAsked, asked);
    TD_PROBE(kArrived, arrived);
    TD_PROBE(kChecked, checked);
    TD_PROBE(kStore, store);
    TD_PROBE(kWritten, written);
    TD_PROBE(kDurable, durable);
    TD_PROBE(kTold, told);
    TD_PROBE(kFetch, fetch);
    TD_PROBE(kFetched, fetched);
    TD_PROBE(kConsume, consume);
    TD_PROBE(kConsumed, consumed);
    TD_PROBE(kCredit, credit);
    TD_PROBE(kFlush, flush);
    TD_PROBE(kGap, gap);
    TD_PROBE(kResend, resend);
    TD_PROBE(kRailUp, rail_up);
    TD_PROBE(kRailDown, rail_down);
    TD_PROBE(kSessionFailed, session_failed);
    TD_PROBE(kFinished, finished);
    case Kind::kNone:
      break;
  }
}

}  // namespace tapedeck::dataplane::flight

#undef TD_PROBE
