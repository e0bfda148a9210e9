// LUNs that another storage node has, and that this node takes over once the other is gone:
// --standby-for.
#pragma once

#include <memory>
#include <set>
#include <string>
#include <vector>

#include "absl/time/time.h"
#include "storage_node/recordings/recordings.h"

namespace tapedeck::storage_node::opening {

inline constexpr absl::Duration kStandbysPeriod = absl::Seconds(1);

// Of each LUN a member or more; all say which the others are.
using MembersOfLuns = std::vector<std::vector<std::string>>;

// What LUNs have as their names: "rados:tape/tapedeck" for "rados:tape". One that cannot be looked
// at now is as it was given. Waits for the disk.
std::set<std::string> NamesOf(const MembersOfLuns& luns);

// One thread calls; outlived by `recordings`, but not by its tasks in queues there.
class Standbys {
 public:
  Standbys(recordings::Recordings& recordings, const MembersOfLuns& luns);

  // One round: looks at each on a thread of its own, unless the last look at it is not done. One
  // that is open here is left alone. One that another node has is listed with who that is. One that
  // nobody has is taken as lun attach takes it: the store sees to it that whoever had it writes no
  // more. What the catalog had of it is read from the LUN again, since another node has had it.
  void Look();

 private:
  struct Standby;
  static void LookAt(recordings::Recordings& recordings, Standby& standby);

  recordings::Recordings& recordings_;
  std::vector<std::shared_ptr<Standby>> standbys_;
};

}  // namespace tapedeck::storage_node::opening
