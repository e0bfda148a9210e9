// One connection waiting for its peer: queue pairs in INIT, then connected and tried out in both
// directions with packets of full size.
#pragma once

#include <memory>

#include "absl/status/statusor.h"
#include "dataplane/transport/transport.h"
#include "dataplane/transport/verbs/connection.h"
#include "dataplane/transport/verbs/registration.h"

namespace tapedeck::dataplane::verbs {

// On the rail's poller. `registration` outlives the offer and its connection.
absl::StatusOr<std::unique_ptr<Offer>> NewVerbsOffer(const Rail& rail,
                                                     const Registration& registration);

}  // namespace tapedeck::dataplane::verbs
