// What the system tells of the ports of rails: whether there is a link, the card's temperature, and
// the RDMA hardware's counters, which are the only sign of a mistake in PFC or ECN.
#pragma once

#include <string>

#include "services/observe/telemetry/page.h"

namespace tapedeck::services::telemetry {

// `device` is an RDMA port, "mlx5_0/1", or a network interface, "eth0". What cannot be read in
// `sysfs`, "/sys", is left out.
void AddPort(Page& page, const std::string& rail, const std::string& device,
             const std::string& sysfs);

}  // namespace tapedeck::services::telemetry
