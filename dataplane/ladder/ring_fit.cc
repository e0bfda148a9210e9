#include "dataplane/ladder/ring_fit.h"

#include <algorithm>
#include <utility>

#include "absl/strings/str_cat.h"
#include "dataplane/status_macros.h"

namespace tapedeck::dataplane::ladder {
namespace {

absl::StatusOr<FittedRing> Make(const RingRequest& request, size_t slots) {
  FittedRing fitted;
  TD_ASSIGN_OR_RETURN(fitted.ring, request.make(slots));
  fitted.registration.access = request.access;
  for (Transport* rail : request.rails) {
    TD_ASSIGN_OR_RETURN(std::shared_ptr<Domain> domain,
                        rail->OpenDomain(fitted.ring->window(), request.access));
    fitted.registration.domains.push_back(std::move(domain));
  }
  return fitted;
}

}  // namespace

absl::StatusOr<FittedRing> FitRing(const RingRequest& request) {
  const size_t least = std::min(request.min_slots, request.slots);
  absl::Status first;
  for (size_t slots = request.slots;; slots = std::max(slots / 2, least)) {
    absl::StatusOr<FittedRing> fitted = Make(request, slots);
    if (fitted.ok() && !first.ok()) {
      fitted->warning =
          absl::StrCat("the ring has ", slots, " slots instead of ", request.slots,
                       ", so it rides out shorter stalls: ", absl::string_view(first.message()));
    }
    if (fitted.ok() || !absl::IsResourceExhausted(fitted.status())) return fitted;
    first.Update(fitted.status());
    if (slots > least) continue;
    absl::Status none = absl::ResourceExhaustedError(
        absl::StrCat("no ring: the least, ", least, " slots on ", request.rails.size(),
                     " rail(s), does not fit: ", absl::string_view(fitted.status().message())));
    fitted.status().ForEachPayload(
        [&](absl::string_view url, const absl::Cord& payload) { none.SetPayload(url, payload); });
    return none;
  }
}

}  // namespace tapedeck::dataplane::ladder
