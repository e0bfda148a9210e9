// SigMF: NAME.sigmf-data, the samples and nothing else, and NAME.sigmf-meta; or both in one archive
// NAME.sigmf, a tar of POSIX. The meta is the one that the node writes beside a recording, with
// what was seen of the samples.
#pragma once

#include <memory>
#include <string>

#include "absl/status/statusor.h"
#include "services/formats/io/reader.h"
#include "services/formats/io/writer.h"

namespace tapedeck::services::formats {

// The file that gets the samples, of what a user named: NAME, NAME.sigmf-data, NAME.sigmf-meta or
// NAME.sigmf.
std::string SigmfFile(const std::string& named);

// A stream gets the archive, with the recording's ID as its name.
// ALREADY_EXISTS (FILE_EXISTS): the meta is there, and none that the export that goes on has
// written; INVALID_ARGUMENT (ARGUMENT_INVALID): a name that no archive has.
absl::StatusOr<std::unique_ptr<Writer>> CreateSigmfWriter(const Subject& subject,
                                                          const WriterOptions& options);

// NAME.sigmf-meta or NAME.sigmf. Annotations with our key tapedeck:missing become gaps again.
absl::StatusOr<std::unique_ptr<Reader>> OpenSigmf(const std::string& path,
                                                  const ReadOptions& options = {});

}  // namespace tapedeck::services::formats
