// Small files that are either old or new after any crash, by their paths: for directories that
// belong to the node alone, e.g. its state. The last part of a path is never followed if it is a
// symbolic link. Blocking.
#pragma once

#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"

namespace tapedeck::storage_node::disk {

// Writes a temporary file, syncs it, renames it over `path` and syncs the directory.
absl::Status WriteFileAtomically(const std::string& path, absl::string_view text,
                                 const std::string& member);

// NOT_FOUND if there is no such file; DATA_LOSS if it has more than `most` bytes.
absl::StatusOr<std::string> ReadFile(const std::string& path, uint64_t most,
                                     const std::string& member);

// Removes a regular file; OK if there is none.
absl::Status RemoveFile(const std::string& path, const std::string& member);

// Makes the directory's entries durable.
absl::Status SyncDirectory(const std::string& path, const std::string& member);

// Creates `path` (its parent must exist); OK if it exists.
absl::Status MakeDirectory(const std::string& path, const std::string& member);

// Names of the entries of a directory, sorted; empty if it does not exist.
absl::StatusOr<std::vector<std::string>> ListDirectory(const std::string& path,
                                                       const std::string& member);

}  // namespace tapedeck::storage_node::disk
