// The network ports, GPUs and NUMA nodes of a machine and their places, in plain values. Read once
// with hwloc; immutable, any thread.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "dataplane/topology/distance.h"

namespace tapedeck::dataplane::topology {

// Both are empty for what has no place, e.g. a loopback or virtual interface.
struct Place {
  std::string pci_address;       // "0000:3b:00.0"
  std::optional<int> numa_node;  // the system's number
  bool operator==(const Place&) const = default;
};

enum class DeviceKind { kNetwork, kRdma, kGpu };

// One PCI function. A port with an RDMA device is kRdma and has the names of both.
struct Device {
  DeviceKind kind = DeviceKind::kNetwork;
  std::vector<std::string> names;  // the system's: "eth0", "mlx5_0"; a GPU may have none
  Place place;
  std::vector<std::string> bridges;  // above it, from the host bridge down
  uint64_t pci_bytes_per_s = 0;      // of its PCI link as it runs; 0 unknown
};

struct NumaNode {
  int index = 0;
  std::vector<int> cpus;
};

class Topology {
 public:
  // Knows nothing: every distance is UNKNOWN.
  Topology() = default;
  Topology(std::vector<Device> devices, std::vector<NumaNode> nodes)
      : devices_(std::move(devices)), nodes_(std::move(nodes)) {}

  // This machine. UNIMPLEMENTED in a build without hwloc.
  static absl::StatusOr<Topology> Discover();

  // A file of `lstopo --of xml` (hwloc 2). INVALID_ARGUMENT if it is none.
  static absl::StatusOr<Topology> FromXml(const std::string& path);

  const std::vector<Device>& devices() const { return devices_; }
  const std::vector<NumaNode>& nodes() const { return nodes_; }

  // By one of its names, or by its PCI address as nvidia-smi, CUDA or lspci write it. Null if there
  // is none.
  const Device* Find(absl::string_view name) const;

  // Memory of the CPUs. Its node is known where there is only one: elsewhere its pages lie on the
  // node of the thread that first touched them.
  Place HostMemory() const;

  Distance Between(const Place& a, const Place& b) const;

 private:
  std::vector<Device> devices_;
  std::vector<NumaNode> nodes_;
};

// "00000000:3B:00.0" and "3b:00.0" become "0000:3b:00.0"; other text is empty.
std::string NormalPciAddress(absl::string_view text);

// Keeps the calling thread on those of `cpus` that it may use already, so that a choice of the
// operator (taskset, cgroup) is narrowed and never widened. FAILED_PRECONDITION if it may use none
// of them; it then runs where it did.
absl::Status PinThisThread(const std::vector<int>& cpus);

}  // namespace tapedeck::dataplane::topology
