// Beneath which directories members of LUNs may lie: --member-root.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "services/model/seams/catalog.h"

namespace tapedeck::storage_node::luns {

// A value. Any thread that may wait for a disk.
class MemberRoots {
 public:
  // Anywhere.
  MemberRoots() = default;
  explicit MemberRoots(std::vector<std::string> directories)
      : directories_(std::move(directories)) {}

  // FAILED_PRECONDITION (MEMBER_UNUSABLE) names a member that lies beneath none of them. What
  // counts is what its path leads to, but for a block device: beneath a directory of /dev the links
  // that udev has made there may lead out of it. Members that are no paths are not asked about.
  absl::Status Check(const services::Lun& lun) const;

 private:
  absl::Status CheckMember(const std::string& member) const;

  std::vector<std::string> directories_;
};

}  // namespace tapedeck::storage_node::luns
