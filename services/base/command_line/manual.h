// Manual pages made from the tree of commands and their help: one of the program, and one of each
// of its commands. Used by the one thread that has made the command line.
#pragma once

#include <string>
#include <utility>
#include <vector>

namespace CLI {
class App;
}  // namespace CLI

namespace tapedeck::services::command_line {

struct ManualPage {
  std::string name;  // "tapectl-lun"
  std::string roff;  // with the macros of man(7)
};

// What the help does not say.
struct ManualSection {
  std::string title;                                         // in capitals
  std::vector<std::pair<std::string, std::string>> entries;  // a term and what it is
};

// `version` as "0.1.0"; the sections stand on the page of the program.
std::vector<ManualPage> ManualOf(CLI::App& program, const std::string& version,
                                 const std::vector<ManualSection>& sections);

}  // namespace tapedeck::services::command_line
