// What a rail loses to small packets.
#include "absl/strings/str_format.h"
#include "dataplane/transport/wire_share.h"
#include "services/observe/doctor/checks.h"

namespace tapedeck::services::doctor {
namespace {

// With less than that an interface has no jumbo frames: RoCE's largest path MTU needs as much.
constexpr uint32_t kJumboMtu = 4200;

std::string RatesOf(const RailFacts& rail) {
  if (rail.bits_per_s == 0) return "";
  return absl::StrFormat(": %.0f MB/s at most, %.0f with the best",
                         static_cast<double>(rail.limit_bytes_per_s) / 1e6,
                         static_cast<double>(rail.best_limit_bytes_per_s) / 1e6);
}

}  // namespace

void CheckMtus(const Scene& scene, const Request& /*request*/, Findings& findings) {
  for (const NodeRail& node_rail : scene.rails) {
    const RailFacts rail = FactsOf(scene, node_rail);
    if (rail.mtu_bytes == 0) continue;
    const bool roce = rail.path_mtu_bytes != 0;
    if (roce ? rail.path_mtu_bytes >= dataplane::kBestRoceMtu : rail.mtu_bytes >= kJumboMtu) {
      continue;
    }
    const double share = roce ? dataplane::RoceShare(rail.path_mtu_bytes) /
                                    dataplane::RoceShare(dataplane::kBestRoceMtu)
                              : dataplane::TcpShare(rail.mtu_bytes) /
                                    dataplane::TcpShare(dataplane::kBestInterfaceMtu);
    const std::string path =
        roce ? absl::StrFormat(", so the path MTU is %d, not 4096", rail.path_mtu_bytes) : "";
    Finding finding = Found(
        "PATH_MTU_SMALL",
        absl::StrFormat("%s: %s has MTU %d%s; %.1f %% of the wire is lost by that%s", NameOf(rail),
                        rail.interface, rail.mtu_bytes, path, 100 * (1 - share), RatesOf(rail)));
    findings.push_back(std::move(finding));
  }
}

}  // namespace tapedeck::services::doctor
