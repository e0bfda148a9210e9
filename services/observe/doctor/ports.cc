// Whether each rail's address is on this machine, and its port up and able to send from it.
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "dataplane/socket_address.h"
#include "services/observe/doctor/checks.h"

namespace tapedeck::services::doctor {
namespace {

constexpr size_t kMostGids = 256;

// As /sys writes the GID of an address: eight groups of four digits.
std::string GidOf(const std::string& address) {
  const auto ip = dataplane::ParseIp(address);
  if (!ip.has_value()) return "";
  const auto gid = ip->v6_bytes();
  std::string text;
  for (size_t i = 0; i < gid.size(); i += 2) {
    absl::StrAppend(&text, text.empty() ? "" : ":", absl::Hex(gid[i], absl::kZeroPad2),
                    absl::Hex(gid[i + 1], absl::kZeroPad2));
  }
  return text;
}

bool HasRoceGid(const Scene& scene, const std::string& port, const std::string& address) {
  const std::string wanted = GidOf(address);
  for (size_t i = 0; i < kMostGids; ++i) {
    const std::string gid = TextIn(scene, absl::StrCat(port, "/gids/", i));
    if (gid.empty()) return false;
    if (gid == wanted &&
        absl::StrContains(TextIn(scene, absl::StrCat(port, "/gid_attrs/types/", i)), "RoCE v2")) {
      return true;
    }
  }
  return false;
}

// Whether it is one, up, and has the rail's address.
void CheckRdmaPort(const Scene& scene, const RailFacts& rail, const std::string& port,
                   Findings& findings) {
  const std::string state = TextIn(scene, port + "/state");
  if (state.empty()) {
    findings.push_back(Found("DEVICE_GONE", absl::StrCat(NameOf(rail), ": ", port, " is gone")));
  } else if (!absl::StartsWith(state, "4:")) {
    findings.push_back(Found("PORT_DOWN", absl::StrCat(NameOf(rail), ": ", port, " is ", state)));
  } else if (!HasRoceGid(scene, port, rail.address)) {
    findings.push_back(Found("NO_ROCE_V2_GID", absl::StrCat(NameOf(rail), ": ", port,
                                                            " has no RoCEv2 GID of that address")));
  }
}

// Most cards throttle at 105 °C, and their optical modules go at 70 to 85.
constexpr double kHotCelsius = 90;

}  // namespace

void CheckPorts(const Scene& scene, const Request& /*request*/, Findings& findings) {
  for (const NodeRail& node_rail : scene.rails) {
    const RailFacts rail = FactsOf(scene, node_rail);
    if (rail.transport == "inproc") continue;
    if (const std::string port = RdmaPortOf(node_rail); !port.empty()) {
      CheckRdmaPort(scene, rail, port, findings);
      continue;
    }
    if (scene.interface_of(rail.address).empty()) {
      findings.push_back(
          Found("ADDRESS_NOT_HERE", absl::StrCat(NameOf(rail), ": no interface has the address")));
      continue;
    }
    const std::string interface = absl::StrCat("/sys/class/net/", rail.interface);
    const std::string state = TextIn(scene, interface + "/operstate");
    // "unknown" is what loopback and other interfaces without a link say; in a container the files
    // may be those of other interfaces.
    if (!state.empty() && state != "up" && state != "unknown") {
      findings.push_back(
          Found("PORT_DOWN", absl::StrCat(NameOf(rail), ": ", rail.interface, " is ", state)));
    }
  }
}

// Network cards that are too hot.
void CheckTemperatures(const Scene& scene, const Request& /*request*/, Findings& findings) {
  for (const NodeRail& node_rail : scene.rails) {
    const RailFacts rail = FactsOf(scene, node_rail);
    const double celsius = rail.temperature_celsius.value_or(0);
    if (celsius < kHotCelsius) continue;
    findings.push_back(Found("NIC_HOT", absl::StrFormat("%s: its card has %.0f °C, %.0f is hot",
                                                        NameOf(rail), celsius, kHotCelsius)));
  }
}

}  // namespace tapedeck::services::doctor
