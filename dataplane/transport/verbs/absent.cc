#include "dataplane/errors.h"
#include "dataplane/transport/verbs/transport.h"

namespace tapedeck::dataplane::verbs {

absl::Status Usable() {
  return NoRdmaDevice("",
                      "built without verbs: install libibverbs-dev and "
                      "librdmacm-dev, and build with -DTAPEDECK_VERBS=ON");
}

std::string LoopbackAddress() { return ""; }

absl::StatusOr<std::unique_ptr<Transport>> Create(const RailSpec& /*spec*/,
                                                  const Pollers& /*pollers*/) {
  return Usable();
}

}  // namespace tapedeck::dataplane::verbs
