#include "services/tapectl/files/format_option.h"

#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"

namespace tapedeck::services::tapectl {

void AddFormatOption(command_line::Command command, std::string& format, formats::Use use) {
  std::vector<std::string> names, helps;
  for (const formats::Format& one : formats::FormatsFor(use)) {
    names.push_back(one.name);
    helps.push_back(absl::StrCat(one.name, " (", one.help, ")"));
  }
  command.AddOption("--format", format, absl::StrJoin(helps, ", ")).OneOf(names).Required();
}

}  // namespace tapedeck::services::tapectl
