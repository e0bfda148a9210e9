// What is wrong with the commands and options of a line, and which were probably meant. Used by the
// one thread that reads the command line.
#pragma once

#include <optional>
#include <stdexcept>
#include <string>

namespace CLI {
class App;
class ParseError;
}  // namespace CLI

namespace tapedeck::services::command_line {

struct UnknownCommand : std::runtime_error {
  using std::runtime_error::runtime_error;
};

// `command` has just been found on the line: a word before it that nothing has taken was meant to
// be a command of the same level. Throws UnknownCommand, which says so.
void RefuseWordsBefore(const CLI::App& command);

// The line could not be read because of `error`: the first command or option on it that there is
// none of, or the command that it lacks. Nothing if neither is the case; the error's text says it
// then. One line, without its end.
std::optional<std::string> ComplaintOf(const CLI::App& program, const CLI::ParseError& error);

// The line asks for help: that of a command that there is none of, in the same form. Nothing if
// there is.
std::optional<std::string> ComplaintOfHelp(const CLI::App& program);

// `word` is no command of `command`.
std::string ComplaintOfWord(const CLI::App& command, const std::string& word);

}  // namespace tapedeck::services::command_line
