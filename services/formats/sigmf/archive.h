// The recordings of SigMF in an archive, a tar as pax, GNU tar, bsdtar and Python write it, read by
// libarchive. Their samples lie in the archive as they are. One thread that may wait.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "services/base/files/input_file.h"
#include "services/formats/io/samples_file.h"
#include "services/model/words/note.h"

namespace tapedeck::services::formats {

// A regular file in an archive.
struct ArchivedFile {
  Extent in_archive;   // the bytes that are there
  uint64_t bytes = 0;  // that it has by its header; more: the archive ends within it
};

// NAME.sigmf-meta and NAME.sigmf-data.
struct ArchivedRecording {
  std::string name;  // with its folders
  ArchivedFile meta;
  ArchivedFile data;
};

struct Archive {
  std::vector<ArchivedRecording> recordings;  // in the order of their names
  model::Notes notes;                         // what is left out
};

// INVALID_ARGUMENT (FILE_INVALID): it is no archive; a header is damaged or cut; a file has holes
// (tar -S); a name is there twice; it has more than 1024 entries.
absl::StatusOr<Archive> ReadArchive(const files::InputFile& file);

// The one that is asked for by its name, with or without folders; empty: the only one there is.
// INVALID_ARGUMENT (FILE_INVALID) names those there are.
absl::StatusOr<ArchivedRecording> RecordingIn(const Archive& archive, const std::string& member,
                                              const std::string& path);

}  // namespace tapedeck::services::formats
