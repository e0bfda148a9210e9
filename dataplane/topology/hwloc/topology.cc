#include "dataplane/topology/topology.h"

#include <hwloc.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <memory>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "dataplane/status_macros.h"

namespace tapedeck::dataplane::topology {
namespace {

struct Destroy {
  void operator()(hwloc_topology_t topology) const { hwloc_topology_destroy(topology); }
};
using Handle = std::unique_ptr<hwloc_topology, Destroy>;

absl::Status HwlocError(absl::string_view call) {
  return absl::UnavailableError(absl::StrCat(call, ": ", std::strerror(errno)));
}

absl::StatusOr<Handle> MakeHandle() {
  hwloc_topology_t raw = nullptr;
  if (hwloc_topology_init(&raw) != 0) return HwlocError("hwloc_topology_init");
  Handle handle(raw);
  // hwloc leaves I/O devices out unless asked for them.
  if (hwloc_topology_set_io_types_filter(raw, HWLOC_TYPE_FILTER_KEEP_IMPORTANT) != 0) {
    return HwlocError("hwloc_topology_set_io_types_filter");
  }
  // Where hwloc's plug-ins are installed, these would start drivers and X connections. What is not
  // there need not be left out, so the result does not matter.
  for (const char* component : {"cuda", "nvml", "opencl", "gl", "rsmi", "levelzero"}) {
    hwloc_topology_set_components(raw, HWLOC_TOPOLOGY_COMPONENTS_FLAG_BLACKLIST, component);
  }
  return handle;
}

std::string PciAddress(const hwloc_obj_attr_u::hwloc_pcidev_attr_s& pci) {
  return absl::StrFormat("%04x:%02x:%02x.%x", pci.domain, pci.bus, pci.dev, pci.func);
}

std::string BridgeName(const hwloc_obj_attr_u::hwloc_bridge_attr_s& bridge) {
  if (bridge.upstream_type == HWLOC_OBJ_BRIDGE_PCI) return PciAddress(bridge.upstream.pci);
  return absl::StrFormat("host %04x:%02x", bridge.downstream.pci.domain,
                         bridge.downstream.pci.secondary_bus);
}

// None where the device hangs below several nodes: then the firmware has not said which is nearest.
std::optional<int> NumaNodeOf(hwloc_topology_t topology, hwloc_obj_t device) {
  const hwloc_obj_t holder = hwloc_get_non_io_ancestor_obj(topology, device);
  if (holder->nodeset == nullptr || hwloc_bitmap_weight(holder->nodeset) != 1) return std::nullopt;
  return hwloc_bitmap_first(holder->nodeset);
}

// What a PCI function is by its class and the system's devices on it.
std::optional<DeviceKind> KindOf(hwloc_obj_t device) {
  constexpr unsigned kNetworkClass = 0x02;
  constexpr unsigned kDisplayClass = 0x03;
  const unsigned pci_class = device->attr->pcidev.class_id >> 8;
  bool network = pci_class == kNetworkClass;
  for (hwloc_obj_t os = device->io_first_child; os != nullptr; os = os->next_sibling) {
    if (os->type != HWLOC_OBJ_OS_DEVICE) continue;
    if (os->attr->osdev.type == HWLOC_OBJ_OSDEV_OPENFABRICS) return DeviceKind::kRdma;
    network |= os->attr->osdev.type == HWLOC_OBJ_OSDEV_NETWORK;
  }
  if (network) return DeviceKind::kNetwork;
  if (pci_class == kDisplayClass) return DeviceKind::kGpu;
  return std::nullopt;
}

Device DeviceOf(hwloc_topology_t topology, hwloc_obj_t object, DeviceKind kind) {
  constexpr float kBytesPerGigabyte = 1e9f;
  const auto& pci = object->attr->pcidev;
  Device device{.kind = kind,
                .place = {PciAddress(pci), NumaNodeOf(topology, object)},
                .pci_bytes_per_s = static_cast<uint64_t>(pci.linkspeed * kBytesPerGigabyte)};
  for (hwloc_obj_t os = object->io_first_child; os != nullptr; os = os->next_sibling) {
    if (os->type == HWLOC_OBJ_OS_DEVICE) device.names.emplace_back(os->name);
  }
  for (hwloc_obj_t above = object->parent; above != nullptr && above->type == HWLOC_OBJ_BRIDGE;
       above = above->parent) {
    device.bridges.push_back(BridgeName(above->attr->bridge));
  }
  std::ranges::reverse(device.bridges);
  return device;
}

std::vector<NumaNode> NodesOf(hwloc_topology_t topology) {
  std::vector<NumaNode> nodes;
  hwloc_obj_t object = nullptr;
  while ((object = hwloc_get_next_obj_by_type(topology, HWLOC_OBJ_NUMANODE, object)) != nullptr) {
    NumaNode node{.index = static_cast<int>(object->os_index)};
    for (int cpu = hwloc_bitmap_first(object->cpuset); cpu >= 0;
         cpu = hwloc_bitmap_next(object->cpuset, cpu)) {
      node.cpus.push_back(cpu);
    }
    nodes.push_back(std::move(node));
  }
  return nodes;
}

Topology Read(hwloc_topology_t topology) {
  std::vector<Device> devices;
  hwloc_obj_t object = nullptr;
  while ((object = hwloc_get_next_pcidev(topology, object)) != nullptr) {
    if (const std::optional<DeviceKind> kind = KindOf(object)) {
      devices.push_back(DeviceOf(topology, object, *kind));
    }
  }
  return Topology(std::move(devices), NodesOf(topology));
}

}  // namespace

absl::StatusOr<Topology> Topology::Discover() {
  TD_ASSIGN_OR_RETURN(const Handle handle, MakeHandle());
  if (hwloc_topology_load(handle.get()) != 0) return HwlocError("hwloc_topology_load");
  return Read(handle.get());
}

absl::StatusOr<Topology> Topology::FromXml(const std::string& path) {
  TD_ASSIGN_OR_RETURN(const Handle handle, MakeHandle());
  if (hwloc_topology_set_xml(handle.get(), path.c_str()) != 0 ||
      hwloc_topology_load(handle.get()) != 0) {
    return absl::InvalidArgumentError(
        absl::StrCat("hwloc_topology_set_xml: ", path, ": ", std::strerror(errno),
                     "; expected a file of lstopo --of xml, hwloc 2"));
  }
  return Read(handle.get());
}

}  // namespace tapedeck::dataplane::topology
