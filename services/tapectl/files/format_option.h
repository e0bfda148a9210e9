// The option that names a format of files.
#pragma once

#include <string>

#include "services/base/command_line/command_line.h"
#include "services/formats/list.h"

namespace tapedeck::services::tapectl {

// Its help lists those of that use.
void AddFormatOption(command_line::Command command, std::string& format, formats::Use use);

}  // namespace tapedeck::services::tapectl
