// The checks of the doctor on a storage node: its LUNs, their members and disks, and how the node
// reaches them. To add a check: a file, its line here and in list.cc.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "services/model/seams/catalog.h"
#include "services/observe/doctor/checks.h"
#include "storage_node/catalog/catalog.h"
#include "storage_node/luns/luns.h"

namespace tapedeck::storage_node::doctor {

using services::doctor::Check;
using services::doctor::Findings;
using services::doctor::Found;
using services::doctor::Request;

// Of a LUN, copied: whoever waits for its disks holds nothing of it.
struct LunFacts {
  services::Lun config;
  absl::Status offline;  // why; OK: it is not
  std::vector<services::Channel> channels;
  uint64_t limit_bytes = 0;  // 0: none
  uint64_t used_bytes = 0;
  uint64_t least_bytes = 0;        // what the shortest new recording takes
  double written_bytes_per_s = 0;  // of late
};

// None if it has gone, or another node has it.
std::optional<LunFacts> FactsOf(luns::Luns& luns, const std::string& id);
std::vector<LunFacts> AllFacts(luns::Luns& luns);

// Of all its channels together, while each has its full rate; what is not known counts as nothing.
double BytesPerS(const LunFacts& lun);

// 10^6 bytes, or as many a second: whole ones from 10 on, else two digits, so that little is not 0.
std::string MegabytesOf(double bytes);

// The checks of a node: some of the whole, and one for each LUN, so that a disk that hangs keeps
// nothing else from being told. `ring_bytes`: of a session. Does not wait.
std::vector<Check> StorageChecks(luns::Luns& luns, std::shared_ptr<catalog::Catalog> catalog,
                                 uint64_t ring_bytes);

// Whether the state directory takes what the node writes, and has taken it. Waits for it.
void CheckState(const std::string& state_dir, const absl::Status& health, Findings& findings);

// 0, or the errno of what keeps a directory from taking a file without a name, of which nothing
// stays. One whose file system has no such files is believed.
int TryDirectory(const std::string& path);

// They wait for the LUN's disks.
void CheckMembers(const LunFacts& lun, Findings& findings);
void CheckFreeSpace(const LunFacts& lun, Findings& findings);
// With `measure`: each disk's rate against the rates of the channels on it.
void CheckDisks(const std::vector<LunFacts>& luns, const Request& request, Findings& findings);
void CheckEngine(const std::vector<LunFacts>& luns, uint64_t ring_bytes, Findings& findings);

}  // namespace tapedeck::storage_node::doctor
