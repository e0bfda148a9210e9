// The channels of an open LUN, in memory.
#pragma once

#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "absl/base/thread_annotations.h"
#include "absl/status/status.h"
#include "absl/synchronization/mutex.h"
#include "services/model/seams/catalog.h"
#include "storage_node/catalog/catalog.h"

namespace tapedeck::storage_node::luns {

struct OpenLun;

// Owned by its LUN. Any thread. A LUN's files say what its channels are: they are read when it is
// opened, and a change is on the disk before it is in force. The catalog's rows follow, for lists
// of LUNs that are offline.
class Channels {
 public:
  explicit Channels(std::shared_ptr<catalog::Catalog> catalog) : catalog_(std::move(catalog)) {}

  // None if there is no such channel. Does not wait for a disk.
  std::optional<services::Channel> Find(const std::string& id) const;
  // By name.
  std::vector<services::Channel> All() const;
  std::set<std::string> Ids() const;

  // These wait for the disk. `lun` is the owner.
  //
  // Once, before others see the LUN. An error if the file of a channel that has a row is damaged.
  absl::Status Load(const OpenLun& lun);
  // What the catalog had of a channel whose file Load has not found.
  std::optional<services::Channel> LastKnown(const std::string& id) const;
  // Makes or replaces one. The caller sees to it that nobody else changes the LUN, or opens it, as
  // whoever does reads the files. Errors, with which the old one stays in force, are those of
  // WriteChannelFile and of Catalog::CheckTakes, and RESOURCE_EXHAUSTED (LIMIT_REACHED) where there
  // are too many.
  absl::Status Put(const OpenLun& lun, const services::Channel& channel);
  // The same. OK if there is none.
  absl::Status Remove(const OpenLun& lun, const std::string& id);

 private:
  absl::Status CheckRoomFor(const std::string& id) const;

  const std::shared_ptr<catalog::Catalog> catalog_;
  mutable absl::Mutex mutex_;
  std::map<std::string, services::Channel> channels_ ABSL_GUARDED_BY(mutex_);      // by id
  std::map<std::string, services::Channel> without_file_ ABSL_GUARDED_BY(mutex_);  // by id
};

}  // namespace tapedeck::storage_node::luns
