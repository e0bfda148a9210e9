// How help looks: as wide as the terminal, with the rules of an option in words behind what it is
// for.
#pragma once

#include <memory>
#include <string>

#include "absl/strings/string_view.h"

namespace CLI {
class FormatterBase;
class Option;
}  // namespace CLI

namespace tapedeck::services::command_line {

// Columns to write help in: what the environment's COLUMNS says, or the terminal on stdout, or 80;
// from 40 to 100.
int HelpColumns();

// For every command of a program.
std::shared_ptr<CLI::FormatterBase> MakeHelpFormatter(const std::string& more);

// The words of `text` in lines of at most `columns` columns, each but the first behind `indent`
// spaces; `column` is where the first line goes on. A word that is longer has a line of its own.
std::string Wrapped(absl::string_view text, int indent, int column, int columns);

// What the option is for, then its rules: "Stop after this time. Not with --blocks. Default: 10s."
std::string DescriptionOf(const CLI::Option& option);

}  // namespace tapedeck::services::command_line
