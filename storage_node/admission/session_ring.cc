#include "storage_node/admission/session_ring.h"

#include <algorithm>

#include "absl/strings/str_cat.h"
#include "dataplane/log.h"
#include "dataplane/memory/host/memory.h"
#include "dataplane/status_macros.h"
#include "services/base/errors.h"
#include "services/session/transfer/data_path.h"

namespace tapedeck::storage_node::admission {

using dataplane::ladder::FittedRing;

namespace {

constexpr size_t kMinRingSlots = 8;

size_t RingSlots(const RingSettings& settings, uint64_t block_bytes) {
  const size_t fit = settings.ring_bytes / block_bytes;
  return std::max(kMinRingSlots, std::min(settings.ring_slots, fit));
}

}  // namespace

absl::Status CheckSlots(const services::session::Open& open, uint64_t block_bytes) {
  if (open.slot_bytes == 0 || open.slot_bytes >= block_bytes) return absl::OkStatus();
  return services::ArgumentInvalid(
      "slot_bytes", absl::StrCat("slot_bytes ", open.slot_bytes,
                                 " is less than a block of the channel, ", block_bytes, " bytes"));
}

uint64_t RingNeed::bytes(const RingSettings& settings) const {
  return (RingSlots(settings, block_bytes) + held_slots) * block_bytes;
}

absl::StatusOr<FittedRing> MakeSessionRing(const RingSettings& settings, const RingNeed& need,
                                           const dataplane::OnResident& on_resident) {
  const dataplane::RemoteAccess access = services::session::AccessFor(need.op, need.playback);
  const auto make = [&](size_t slots) {
    return need.lun->store->MakeRing({.slots = slots,
                                      .slot_bytes = need.block_bytes,
                                      .playback = need.playback,
                                      .exposed_to_peer = access != dataplane::RemoteAccess::kNone,
                                      .on_resident = on_resident});
  };
  TD_ASSIGN_OR_RETURN(const auto spare, dataplane::host::Create(dataplane::ladder::kSpareBytes));
  absl::StatusOr<FittedRing> fitted =
      dataplane::ladder::FitRing({.rails = settings.rails,
                                  .access = access,
                                  .slots = RingSlots(settings, need.block_bytes) + need.held_slots,
                                  .min_slots = kMinRingSlots + need.held_slots,
                                  .make = make,
                                  .spare = spare->window()});
  if (fitted.ok() && !fitted->warning.empty()) {
    dataplane::Log(dataplane::LogLevel::kWarning, "node", fitted->warning);
  }
  return fitted;
}

}  // namespace tapedeck::storage_node::admission
