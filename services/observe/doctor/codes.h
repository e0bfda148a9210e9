// The list of what the doctor can find: each code once, with how bad it is, why it matters and what
// to do. README.md has the same table; where an error of a call has the reason, the code is that.
#pragma once

#include <array>
#include <cstddef>

#include "absl/strings/string_view.h"

namespace tapedeck::services::doctor {

enum class Severity { kNote = 1, kWarning = 2, kError = 3 };

struct Code {
  absl::string_view name;
  Severity severity = Severity::kError;
  absl::string_view why;
  absl::string_view fix;
};

inline constexpr auto kCodes = std::to_array<Code>({
    {"NODE_UNREACHABLE", Severity::kError, "recording and playback need both nodes",
     "start the node, or correct --storage or --worker"},
    {"VERSION_MISMATCH", Severity::kError, "the nodes refuse each other's sessions",
     "run the same version on both nodes"},
    {"ADDRESS_NOT_HERE", Severity::kError,
     "the rail carries nothing: no interface of this machine has its address",
     "ip address add ADDRESS/BITS dev INTERFACE, or correct --rail and restart the node"},
    {"PORT_DOWN", Severity::kError, "the rail carries nothing; the others carry its share",
     "check its cable and its switch; ip link set INTERFACE up; rdma link"},
    {"DEVICE_GONE", Severity::kError, "the rail carries nothing",
     "see dmesg; restart the node once the device is back"},
    {"NO_ROCE_V2_GID", Severity::kError,
     "the port cannot send from the rail's address, so its connections fail",
     "set the address on the network interface of that port; rdma link"},
    {"RAIL_UNKNOWN", Severity::kWarning,
     "sessions use a rail only if both nodes have it, over the same transport",
     "give both nodes a --rail of that name and transport"},
    {"RAIL_UNREACHABLE", Severity::kError,
     "sessions run without the rail, or fail if it is the only one",
     "check address, route and firewall: ping -I LOCAL PEER"},
    {"RAIL_SUBNETS_DIFFER", Severity::kWarning,
     "packets of the rail go through a router or get lost, instead of over the intended cable",
     "give both ends of the rail addresses of one network"},
    {"RAIL_SPEEDS_DIFFER", Severity::kWarning,
     "the rail is as fast as its slower end, which drops packets without flow control",
     "ethtool INTERFACE at both ends: cable, module and negotiated speed"},
    {"PATH_MTU_SMALL", Severity::kWarning,
     "small packets cost more of the wire for headers and more processor time",
     "ip link set INTERFACE mtu 9000 on both nodes and on the switch"},
    {"PATH_MTU_MISMATCH", Severity::kError, "small packets arrive and large ones may not",
     "set the same MTU on both ports and the switch: ip link set INTERFACE mtu 9000"},
    {"CLOCKS_DIFFER", Severity::kWarning,
     "times of recordings, triggers and logs of the two nodes do not match",
     "run chrony or ptp4l on both; chronyc tracking"},
    {"MEMLOCK_TOO_LOW", Severity::kError,
     "the network card needs rings locked in memory; without it the node refuses sessions or makes "
     "them small",
     "set LimitMEMLOCK=infinity in the service's unit or --ulimit memlock=-1 in a container; "
     "without root the capability IPC_LOCK alone does not help"},
    {"RDMA_FAILED", Severity::kError, "sessions over the rail fail the same way",
     "see dmesg, and the log of the node"},
    {"MEMORY_SHORT", Severity::kWarning,
     "the node refuses sessions that do not fit, or the kernel kills a process",
     "end other programs, lower --follow-memory, or give the machine more memory"},
    {"HUGE_PAGES_OFF", Severity::kNote,
     "rings of small pages cost the card and the processor more address look-ups",
     "echo madvise > /sys/kernel/mm/transparent_hugepage/enabled"},
    {"CRC_IN_SOFTWARE", Severity::kWarning,
     "both nodes check every block: without these instructions that takes a core per 1 to 2 GB/s",
     "use a processor or virtual machine type with SSE 4.2 and PCLMULQDQ"},
    {"IO_URING_BLOCKED", Severity::kWarning,
     "direct and device LUNs use threads instead, which cost more processor time",
     "sysctl kernel.io_uring_disabled=0; in a container use a seccomp profile that allows "
     "io_uring"},
    {"NIC_HOT", Severity::kWarning, "the card slows down or switches off if it gets hotter",
     "check fans and air flow"},
    {"DEVICE_UNUSABLE", Severity::kWarning,
     "jobs compute on the host, which is far slower than a GPU",
     "nvidia-smi; install the driver, or give --device host if that is intended"},
    {"DEVICE_FAILED", Severity::kError, "the worker refuses every job on it",
     "restart the worker; dmesg shows the driver's error (Xid), nvidia-smi whether the GPU is "
     "back"},
    {"GPU_NIC_FAR", Severity::kWarning,
     "blocks cross the link between processors, at a fraction of the port's rate",
     "use the rails near the GPU, or move the card: nvidia-smi topo -m"},
    {"BAR1_EXHAUSTED", Severity::kWarning,
     "the GPU's window for network cards has no room for a ring: blocks go through host memory",
     "use smaller rings or resizable BAR, or end other users of the GPU: nvidia-smi -q -d MEMORY"},
    {"GPU_MEMORY_NOT_REGISTRABLE", Severity::kWarning,
     "blocks go through host memory, which costs copies and host bandwidth",
     "modprobe nvidia-peermem, or install a driver with dma-buf"},
    {"PEERMEM_USED", Severity::kNote,
     "nvidia-peermem is the older way: the driver may take memory away without notice",
     "install a driver and kernel with dma-buf (open kernel modules)"},
    {"PLAIN_TEXT", Severity::kWarning,
     "anyone who can reach the port may do everything and read the traffic of others",
     "give every program --tls-cert, --tls-key and --tls-ca, or use --listen 127.0.0.1:PORT"},
    {"TLS_UNUSABLE", Severity::kError,
     "new connections fail, now or after the next start; open connections continue",
     "put a certificate, its key and its authority into the files"},
    {"TLS_EXPIRES_SOON", Severity::kWarning, "from then on every new connection fails",
     "put a new certificate and its key into the files; the node takes them within seconds"},
    {"TLS_KEY_READABLE", Severity::kWarning,
     "anyone who can read the key can impersonate this program",
     "chmod o-r KEY, and make a new key"},
    {"POLICY_UNUSABLE", Severity::kError,
     "the old policy stays in force, but the node will not start again with this file",
     "correct the file at the named line; the node takes it within seconds"},
    {"RAIL_IN_CLEAR", Severity::kNote,
     "anyone on the path can read and change recorded and played data",
     "set --rail-tls on at both nodes, or give the rails their own network (VLAN, MACsec)"},
    {"LUN_OFFLINE", Severity::kError, "nothing can be recorded into it or played from it",
     "mount or plug in the missing member; if it has moved: tapectl lun attach"},
    {"MEMBER_UNUSABLE", Severity::kError, "recordings on it fail, or end early",
     "mount it read-write, give the node's user write permission, see dmesg"},
    {"LUN_FULL", Severity::kError, "the node refuses recordings, or ends them at once",
     "tapectl recordings delete, or tapectl lun update --capacity"},
    {"STATE_UNUSABLE", Severity::kError,
     "recording continues, but the node cannot save its catalog and the calls it has answered",
     "give it what the finding names: space, write access or the directory itself; see dmesg"},
    {"STATE_NEARLY_FULL", Severity::kWarning,
     "once it is full the node cannot save the catalog of recordings",
     "free space on the file system of --state"},
    {"LUN_NEARLY_FULL", Severity::kWarning, "recordings end when it is full",
     "tapectl recordings delete, tapectl lun update --capacity, or --full-policy ring"},
    {"LUN_NOT_RESPONDING", Severity::kError, "sessions into it wait, and end at their time limit",
     "see dmesg: a disk hangs"},
    {"DISK_TOO_SLOW", Severity::kWarning,
     "at the channels' full rates the ring fills and the source must wait or drop",
     "add members (tapectl lun update --add-member), use a faster disk, or record fewer channels "
     "at a time"},
    {"LUNS_SHARE_DISK", Severity::kWarning,
     "the disk is fast enough for each LUN alone, but not for both at once",
     "move one LUN to another disk, or record into one at a time"},
    {"CHECK_NOT_ENDED", Severity::kWarning, "the examined part hangs, or the machine is busy",
     "see dmesg, then ask again"},
});

// One of the list; another name does not compile.
class CodeId {
 public:
  consteval CodeId(const char* name) : number_(Find(name)) {}  // NOLINT(google-explicit-*)

  static CodeId Listed(size_t number) { return CodeId(number); }
  const Code& operator*() const { return kCodes[number_]; }
  const Code* operator->() const { return &kCodes[number_]; }

 private:
  explicit CodeId(size_t number) : number_(number) {}
  static consteval size_t Find(absl::string_view name) {
    for (size_t i = 0; i < kCodes.size(); ++i) {
      if (kCodes[i].name == name) return i;
    }
    throw "no such code";
  }

  size_t number_;
};

}  // namespace tapedeck::services::doctor
