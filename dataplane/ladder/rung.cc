#include "dataplane/ladder/rung.h"

#include <algorithm>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"

namespace tapedeck::dataplane::ladder {
namespace {

constexpr Rung kDirect[] = {Rung::kDmaBuf, Rung::kPeerMemory, Rung::kPeerCopy};

const ProbeResult& ResultOf(const Evidence& evidence, Rung rung) {
  return rung == Rung::kDmaBuf ? evidence.dma_buf : evidence.peer_memory;
}

const absl::Status& StatusOf(const Evidence& evidence, Rung rung) {
  return rung == Rung::kPeerCopy ? evidence.peer_copy : ResultOf(evidence, rung).status;
}

std::string Refusal(const Evidence& evidence, Rung rung) {
  return absl::StrCat(NameOf(rung), ": ", absl::string_view(StatusOf(evidence, rung).message()));
}

// What was moved, and a warning if it was slow.
std::string Moved(const Evidence& evidence, Rung rung) {
  const uint64_t rate = ResultOf(evidence, rung).bytes_per_s;
  const auto mb_per_s = [](uint64_t bytes_per_s) { return bytes_per_s / 1'000'000; };
  std::string out =
      absl::StrCat("4 KiB and whole blocks moved unchanged, ", mb_per_s(rate), " MB/s");
  if (rate < evidence.wire_limit_bytes_per_s / 2) {
    absl::StrAppend(&out, ", less than half of the ", mb_per_s(evidence.wire_limit_bytes_per_s),
                    " MB/s that the rail can carry: GPU and port are far from each other, or PCIe "
                    "ACS redirects; check nvidia-smi topo -m and lspci -vvv");
  }
  return out;
}

}  // namespace

absl::string_view NameOf(Rung rung) {
  switch (rung) {
    case Rung::kDmaBuf:
      return "dma-buf";
    case Rung::kPeerMemory:
      return "nvidia-peermem";
    case Rung::kPeerCopy:
      return "peer copy";
    case Rung::kBounce:
      break;
  }
  return "host bounce";
}

RungChoice ChooseRung(const Evidence& evidence) {
  const absl::Status& dma_buf = evidence.dma_buf.status;
  const absl::Status& peer_memory = evidence.peer_memory.status;
  if (evidence.peer_copy.ok()) {
    return {Rung::kPeerCopy, "peers on this machine copy from and to the device's memory"};
  }
  if (dma_buf.ok()) return {Rung::kDmaBuf, Moved(evidence, Rung::kDmaBuf)};
  if (peer_memory.ok()) {
    return {Rung::kPeerMemory, absl::StrCat(Moved(evidence, Rung::kPeerMemory), "; ",
                                            Refusal(evidence, Rung::kDmaBuf))};
  }
  // A rail that reaches no device memory at all says so once.
  if (dma_buf == peer_memory) return {Rung::kBounce, std::string(dma_buf.message())};
  return {Rung::kBounce, absl::StrCat(Refusal(evidence, Rung::kDmaBuf), "; ",
                                      Refusal(evidence, Rung::kPeerMemory))};
}

RungChoice ChooseRung(std::span<const Evidence> rails) {
  if (rails.empty()) return {Rung::kBounce, "no rail"};
  for (const Rung rung : kDirect) {
    const auto able = [&](const Evidence& e) { return StatusOf(e, rung).ok(); };
    if (std::ranges::all_of(rails, able)) return {rung, "every rail of the job can use it"};
  }
  std::string why;
  for (const Evidence& evidence : rails) {
    const RungChoice own = ChooseRung(evidence);
    const std::string text =
        own.rung == Rung::kBounce ? own.why : absl::StrCat("could use ", NameOf(own.rung));
    const std::string rail = absl::StrCat("rail ", evidence.rail, ": ");
    // Transports name their rail themselves.
    absl::StrAppend(&why, why.empty() ? "" : "; ", absl::StrContains(text, rail) ? "" : rail, text);
  }
  return {Rung::kBounce, why};
}

}  // namespace tapedeck::dataplane::ladder
