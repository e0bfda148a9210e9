// What a modelled site carries, in MB/s of payload, and what is full while it does.
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <vector>

#include "tests/sim/site/modelled_site.h"

namespace tapedeck::sim {

// Gen3 x4 NVMe, one per port: together they take more than the ports bring.
inline constexpr DriveFigures kFastDrives{.bytes_per_s = 3'600'000'000};
// What a disk took with O_DIRECT: together they take less than the ports bring.
inline constexpr DriveFigures kSlowDrives{.bytes_per_s = 1'800'000'000};

inline constexpr double kBlockMb = static_cast<double>(kModelledBlockBytes) / 1e6;
// Of payload, through the ports of one machine.
inline constexpr double kPortsMbPerS = kModelledPorts * static_cast<double>(kPortBytesPerS) / 1e6 *
                                       static_cast<double>(kModelledBlockBytes) /
                                       static_cast<double>(WireBytes(kModelledBlockBytes));

inline double DrivesMbPerS(const DriveFigures& drives) {
  return drives.drives * static_cast<double>(drives.bytes_per_s) / 1e6;
}

inline double OfferedMbPerS(const WorkerStream& stream) {
  return kBlockMb * 1e9 / static_cast<double>(stream.period_ns);
}

// What has passed so far.
struct Passed {
  uint64_t acknowledged = 0;  // blocks
  double workers_mb = 0;      // on the wire
  double nodes_mb = 0;
  double drives_mb = 0;
};

inline Passed PassedOf(Site& site) {
  Passed passed{.acknowledged = site.acknowledged()};
  for (size_t i = 0; i < kModelledPorts; ++i) {
    for (size_t w = 0; w < site.workers(); ++w) {
      passed.workers_mb += static_cast<double>(site.worker(w).machine().port(i).sent_bytes()) / 1e6;
    }
    for (size_t n = 0; n < site.nodes(); ++n) {
      passed.nodes_mb += static_cast<double>(site.node(n).machine().port(i).received_bytes()) / 1e6;
    }
  }
  for (size_t n = 0; n < site.nodes(); ++n) {
    passed.drives_mb += static_cast<double>(site.node(n).drives().written()) / 1e6;
  }
  return passed;
}

// Of some time: how much of what they can carry, 1 all of it.
struct Fill {
  double mb_per_s = 0;  // acknowledged at the commit level durable
  double workers = 0;   // their ports
  double nodes = 0;     // their ports
  double drives = 0;
};

inline Fill Measure(Site& site, const std::vector<DriveFigures>& drives, int64_t ns) {
  const Passed before = PassedOf(site);
  site.RunFor(ns);
  const Passed after = PassedOf(site);
  const double s = static_cast<double>(ns) / 1e9;
  const double ports = kModelledPorts * static_cast<double>(kPortBytesPerS) / 1e6 * s;
  double can_write = 0;
  for (const DriveFigures& each : drives) can_write += DrivesMbPerS(each) * s;
  return {.mb_per_s = static_cast<double>(after.acknowledged - before.acknowledged) * kBlockMb / s,
          .workers =
              (after.workers_mb - before.workers_mb) / ports / static_cast<double>(site.workers()),
          .nodes = (after.nodes_mb - before.nodes_mb) / ports / static_cast<double>(site.nodes()),
          .drives = (after.drives_mb - before.drives_mb) / can_write};
}

}  // namespace tapedeck::sim
