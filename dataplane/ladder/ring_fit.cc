#include "dataplane/ladder/ring_fit.h"

#include <algorithm>
#include <utility>

#include "absl/strings/str_cat.h"
#include "dataplane/reason.h"
#include "dataplane/status_macros.h"

namespace tapedeck::dataplane::ladder {
namespace {

absl::Status Register(const std::vector<Transport*>& rails, const MemoryWindow& window,
                      Registration& registration) {
  for (Transport* rail : rails) {
    TD_ASSIGN_OR_RETURN(std::shared_ptr<Domain> domain,
                        rail->OpenDomain(window, registration.access));
    registration.domains.push_back(std::move(domain));
  }
  return absl::OkStatus();
}

absl::StatusOr<FittedRing> Make(const RingRequest& request, size_t slots, bool with_spare) {
  FittedRing fitted;
  TD_ASSIGN_OR_RETURN(fitted.ring, request.make(slots));
  fitted.registration.access = request.access;
  TD_RETURN_IF_ERROR(Register(request.rails, fitted.ring->window(), fitted.registration));
  Registration spare;
  if (with_spare) TD_RETURN_IF_ERROR(Register(request.rails, request.spare, spare));
  return fitted;
}

}  // namespace

absl::StatusOr<FittedRing> FitRing(const RingRequest& request) {
  const size_t least = std::min(request.min_slots, request.slots);
  absl::Status first;
  for (size_t slots = request.slots;; slots = std::max(slots / 2, least)) {
    absl::StatusOr<FittedRing> fitted =
        Make(request, slots, slots > least && !request.spare.bytes.empty());
    if (fitted.ok() && !first.ok()) {
      fitted->warning = absl::StrCat(
          "the ring has ", slots, " slots instead of ", request.slots,
          ", so it rides out shorter stalls: ", request.slots * fitted->ring->slot_bytes(),
          " bytes cannot be registered on ", request.rails.size(),
          " rail(s): ", absl::string_view(first.message()));
    }
    if (fitted.ok() || !absl::IsResourceExhausted(fitted.status())) return fitted;
    first.Update(fitted.status());
    if (slots > least) continue;
    return Prefixed(absl::StrCat("no ring: even the smallest, ", least, " slots on ",
                                 request.rails.size(), " rail(s), does not fit: "),
                    fitted.status());
  }
}

}  // namespace tapedeck::dataplane::ladder
