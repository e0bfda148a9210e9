// The samples and nothing else.
#pragma once

#include <memory>
#include <string>

#include "absl/status/statusor.h"
#include "services/formats/io/reader.h"
#include "services/formats/io/writer.h"

namespace tapedeck::services::formats {

std::unique_ptr<Writer> CreateRawWriter();

absl::StatusOr<std::unique_ptr<Reader>> OpenRaw(const std::string& path,
                                                const ReadOptions& options = {});

}  // namespace tapedeck::services::formats
