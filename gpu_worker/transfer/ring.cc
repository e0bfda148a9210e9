#include "gpu_worker/transfer/ring.h"

#include <algorithm>
#include <utility>

#include "absl/strings/str_cat.h"
#include "dataplane/log.h"
#include "dataplane/memory/host/memory.h"
#include "dataplane/status_macros.h"
#include "gpu_worker/pipeline/gpu_ring.h"
#include "services/base/errors.h"
#include "services/session/transfer/data_path.h"

namespace tapedeck::gpu_worker::transfer {

using dataplane::ladder::FittedRing;
using dataplane::ladder::Rung;
using dataplane::ladder::RungChoice;
using services::session::Direction;

namespace {

// Larger blocks get fewer slots, never under 8: with less, a rail waits for the other's
// acknowledgements.
constexpr uint32_t kDefaultSlots = 128;
constexpr uint32_t kMinSlots = 8;
constexpr uint32_t kMaxSlots = 4096;

uint32_t SlotsFor(uint32_t asked, uint64_t block_bytes) {
  if (asked != 0) return std::clamp(asked, kMinSlots, kMaxSlots);
  const auto fitting = static_cast<uint32_t>(kDefaultRingBytes / block_bytes);
  return std::clamp(fitting, kMinSlots, kDefaultSlots);
}

absl::StatusOr<FittedRing> Fit(const RingSettings& settings, Rung rung) {
  const bool sending = settings.direction == Direction::kRecord;
  TD_ASSIGN_OR_RETURN(const auto spare, dataplane::host::Create(dataplane::ladder::kSpareBytes));
  return dataplane::ladder::FitRing({.rails = settings.rails,
                                     .access = services::session::AccessFor(settings.op, sending),
                                     .slots = SlotsFor(settings.slots, settings.block_bytes),
                                     .min_slots = kMinSlots,
                                     .make =
                                         [&settings, rung](size_t slots) {
                                           return pipeline::MakeRing(
                                               *settings.device, rung, settings.rails.size(), slots,
                                               settings.block_bytes, settings.run);
                                         },
                                     .spare = spare->window()});
}

RungChoice Choose(const RingSettings& settings) {
  return settings.ladder->Choose(settings.rails, settings.direction);
}

bool HasIpc(const std::vector<dataplane::Transport*>& rails) {
  return std::ranges::any_of(rails, [](const dataplane::Transport* rail) {
    return rail->rail().transport == dataplane::kIpcTransport;
  });
}

// A ring that other processes open, or a named refusal: what they cannot open is of no use on a
// rail of kind ipc.
absl::StatusOr<RungChoice> ChooseShared(const RingSettings& settings, const RungChoice& choice) {
  if (settings.device->info().works_in_host_memory) {
    return RungChoice{Rung::kPeerCopy, "peers on this machine copy from and to it"};
  }
  if (choice.rung == Rung::kPeerCopy) return choice;
  return services::ArgumentInvalid(
      "rails",
      absl::StrCat("a rail of kind ipc carries memory of ", settings.device->info().description,
                   " by itself, not with others: ", choice.why, "; name rails (--rails)"));
}

services::Note NoteOf(const RingSettings& settings, const RungChoice& choice) {
  const std::string memory = settings.device->info().works_in_host_memory ? "host" : "GPU";
  const std::string path(dataplane::ladder::NameOf(choice.rung));
  return services::MakeNote("MEMORY_PATH",
                            absl::StrCat(memory, " memory by ", path, ": ", choice.why),
                            {{"memory", memory}, {"path", path}});
}

}  // namespace

absl::StatusOr<TransferRing> MakeTransferRing(const RingSettings& settings) {
  const bool has_choice = !settings.device->info().works_in_host_memory;
  RungChoice choice = has_choice && !settings.host ? Choose(settings) : RungChoice();
  if (settings.host) choice = {Rung::kBounce, "the parts of a recording are joined in host memory"};
  const bool ipc = HasIpc(settings.rails);
  if (ipc) {
    TD_ASSIGN_OR_RETURN(choice, ChooseShared(settings, choice));
  }
  absl::StatusOr<FittedRing> fitted = Fit(settings, choice.rung);
  if (!fitted.ok() && choice.rung != Rung::kBounce && !ipc) {
    choice = {Rung::kBounce, absl::StrCat(dataplane::ladder::NameOf(choice.rung),
                                          " is possible, its ring is not: ",
                                          absl::string_view(fitted.status().message()))};
    fitted = Fit(settings, Rung::kBounce);
  }
  TD_RETURN_IF_ERROR(fitted.status());
  TransferRing out{.ring = std::move(fitted->ring),
                   .registration = std::move(fitted->registration)};
  if (has_choice || ipc) out.notes.push_back(NoteOf(settings, choice));
  if (!fitted->warning.empty()) {
    dataplane::Log(dataplane::LogLevel::kWarning, "job", fitted->warning);
    out.notes.push_back(services::MakeNote(
        "RING_SMALL", fitted->warning,
        {{"slots", absl::StrCat(out.ring->slots())},
         {"wanted_slots", absl::StrCat(SlotsFor(settings.slots, settings.block_bytes))}}));
  }
  return out;
}

}  // namespace tapedeck::gpu_worker::transfer
