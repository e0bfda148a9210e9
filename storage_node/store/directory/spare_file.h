// A spare file of a member by itself: its name, its mark, and the writing of its bytes.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "absl/functional/function_ref.h"
#include "absl/status/status.h"
#include "absl/strings/string_view.h"
#include "storage_node/disk/directory.h"

namespace tapedeck::storage_node::store::directory {

// A spare in the making.
struct SparePart {
  std::string name;      // the spare's
  uint64_t bytes = 0;    // it is to have
  bool made = false;     // NAME.part is ours
  uint64_t written = 0;  // from the start
};

// What a spare is called until it is whole.
std::string UnfinishedSpare(const std::string& name);
bool IsUnfinishedSpare(absl::string_view name);
// Of N or N.part, as NewName has made them.
std::optional<uint64_t> SpareNumber(absl::string_view name);

// Whether the file has the LUN's mark.
bool IsOurSpare(const disk::Directory& folder, const std::string& name, const std::string& lun_uid);
void LogSpareRemoved(const disk::Directory& folder, const std::string& name, absl::string_view why);

// Goes on with the part, which gets its mark first, until it is a spare or `go_on`, which is asked
// before each megabyte, says no. `member`: for errors.
absl::Status WriteSpare(const disk::Directory& folder, const std::string& lun_uid,
                        const std::string& member, absl::FunctionRef<bool()> go_on,
                        SparePart* part);

}  // namespace tapedeck::storage_node::store::directory
