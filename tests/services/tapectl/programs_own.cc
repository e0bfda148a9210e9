#include "tests/services/tapectl/programs_own.h"

#include <gtest/gtest.h>

#include <cstring>
#include <filesystem>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_replace.h"
#include "absl/strings/str_split.h"
#include "tests/scratch_file.h"
#include "tests/services/tapectl/process.h"

namespace tapedeck::services::tapectl {
namespace {

// "\fB\-\-into\fR": the options of such a line.
std::set<std::string> OptionsOf(const std::string& line) {
  std::set<std::string> options;
  for (const absl::string_view piece :
       absl::StrSplit(absl::StrReplaceAll(line, {{"\\-", "-"}}), '\\')) {
    if (absl::StartsWith(piece, "fB--")) options.insert(std::string(piece.substr(2)));
  }
  return options;
}

// A page of a command, or of a group of them, each with a section of its own.
void AddPage(const std::string& command, const std::string& roff, OptionsByCommand& table) {
  const bool is_group = absl::StrContains(roff, "\n.SS ");
  std::string name = is_group ? "" : command;
  if (!is_group) table[name];
  std::string last;
  const std::vector<std::string> lines = absl::StrSplit(roff, '\n');
  for (const std::string& line : lines) {
    if (absl::StartsWith(line, ".SS ")) {
      name = absl::StrCat(command, " ", absl::StrReplaceAll(line.substr(4), {{"\\-", "-"}}));
      table[name];
    }
    if (last == ".TP" && (!name.empty() || !is_group)) table[name].merge(OptionsOf(line));
    last = line;
  }
}

}  // namespace

const OptionsByCommand& ProgramsOwn() {
  static const OptionsByCommand table = [] {
    const std::string folder = ScratchPath("manual");
    std::filesystem::create_directory(folder);
    EXPECT_EQ(RunTapectl({"--profile", "none", "manual", "--to", folder}).exit_code, 0);
    OptionsByCommand made;
    for (const auto& page : std::filesystem::directory_iterator(folder)) {
      const std::string stem = page.path().stem();
      const std::string command = stem == "tapectl" ? "" : stem.substr(strlen("tapectl-"));
      AddPage(command, ReadFile(page.path()), made);
    }
    std::filesystem::remove_all(folder);
    return made;
  }();
  return table;
}

std::string CommandIn(const std::vector<std::string>& words, size_t at) {
  if (at >= words.size()) return "";
  if (at + 1 < words.size()) {
    const std::string two = absl::StrCat(words[at], " ", words[at + 1]);
    if (ProgramsOwn().contains(two)) return two;
  }
  return ProgramsOwn().contains(words[at]) ? words[at] : "";
}

}  // namespace tapedeck::services::tapectl
