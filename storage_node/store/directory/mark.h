// The mark by which a recording's directory, or a spare file, says that it is Tapedeck's. Without
// the mark the node leaves a file alone, whatever its name.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "storage_node/disk/directory.h"
#include "storage_node/format/manifest.h"
#include "storage_node/store/directory/member.h"
#include "storage_node/store/known.h"

namespace tapedeck::storage_node::store::directory {

// In a recording's directory. The second is what an ordered deletion makes of the first.
inline constexpr char kManifestFile[] = "manifest.json";
inline constexpr char kDeletedManifestFile[] = "manifest.json.deleted";
// The first that was found damaged when another was written.
inline constexpr char kDamagedManifestFile[] = "manifest.json.damaged";

// Beside them, for other programs: SigMF's two files have one name but for its end.
inline constexpr char kSigmfMetaFile[] = "data.sigmf-meta";
inline constexpr char kSigmfDataLink[] = "data.sigmf-data";

absl::StatusOr<format::Manifest> ReadManifest(const disk::Directory& recording,
                                              const std::string& name);

// Its manifest, be it that of a deletion under way, is that of recording `path` of the member's
// LUN, or the header of its index has the LUN's UUID and, if it has them, the path's ids.
bool CarriesMark(const Member& member, const disk::Directory& recording,
                 const store::RecordingPath& path);

// `path` with its number of members, if the deletion of the recording there was ordered: it has no
// manifest but that of a deletion.
std::optional<store::RecordingPath> BegunDeletion(const disk::Directory& recording,
                                                  store::RecordingPath path);

// A file outside of a recording, e.g. a spare, has the LUN's uid as an extended attribute, which
// stays with it under any name. Where a file system has none, every file is taken for marked: there
// the names in our own directory have to do.
absl::Status MarkFile(const disk::Fd& fd, const std::string& lun_uid, const std::string& path,
                      const std::string& member);
bool IsMarked(const disk::Fd& fd, const std::string& lun_uid);
// A new empty file that has its mark before it has its name.
absl::Status MakeMarkedFile(const disk::Directory& folder, const std::string& name,
                            const std::string& lun_uid);

// The entries of one directory that are not Tapedeck's; they are named in the log once, at the end.
class Foreign {
 public:
  explicit Foreign(std::string directory) : directory_(std::move(directory)) {}
  ~Foreign();
  Foreign(const Foreign&) = delete;
  Foreign& operator=(const Foreign&) = delete;

  void Add(const std::string& name) { names_.push_back(name); }

 private:
  const std::string directory_;
  std::vector<std::string> names_;
};

}  // namespace tapedeck::storage_node::store::directory
