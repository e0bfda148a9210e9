// The option that names a format of files.
#pragma once

#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "services/base/command_line/command_line.h"
#include "services/formats/list.h"

namespace tapedeck::services::tapectl {

// Its help lists those of that use.
inline void AddFormatOption(command_line::Command command, std::string& format, formats::Use use) {
  std::vector<std::string> names, helps;
  for (const formats::Format& one : formats::FormatsFor(use)) {
    names.push_back(one.name);
    helps.push_back(absl::StrCat(one.name, " (", one.help, ")"));
  }
  command.AddOption("--format", format, absl::StrJoin(helps, ", ")).OneOf(names).Required();
}

}  // namespace tapedeck::services::tapectl
