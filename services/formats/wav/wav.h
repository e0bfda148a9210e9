// WAV, as programs for SDRs have it: I and Q as two channels, and in a chunk `auxi` when it was
// captured and at which frequency. RF64 beyond 4 GiB.
#pragma once

#include <memory>
#include <string>

#include "absl/status/statusor.h"
#include "services/formats/io/reader.h"
#include "services/formats/io/writer.h"

namespace tapedeck::services::formats {

// INVALID_ARGUMENT (DATATYPE_INVALID): a type that WAV has not; (ARGUMENT_INVALID): a sample rate
// that is unknown or no whole number.
absl::StatusOr<std::unique_ptr<Writer>> CreateWavWriter(const Subject& subject,
                                                        const WriterOptions& options);

absl::StatusOr<std::unique_ptr<Reader>> OpenWav(const std::string& path,
                                                const ReadOptions& options = {});

}  // namespace tapedeck::services::formats
