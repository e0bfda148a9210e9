// What may come next on a line that is still being typed, found in the tree of commands. Used by
// the one thread that has made the command line, before it is parsed.
#pragma once

#include <string>
#include <vector>

namespace CLI {
class App;
}  // namespace CLI

namespace tapedeck::services::command_line {

struct Completion {
  struct Word {
    std::string text;  // as the whole last word would be
    std::string help;
  };
  // Commands, options, or values of which there is a list, that begin as the last word does.
  std::vector<Word> words;
  // The last word is a value of this option ("--also") or argument ("CHANNEL"); empty: it is none.
  std::string value;
  std::string typed;   // of the value, so far
  std::string before;  // of the last word, before the value: "--also="
  // "lun delete"; empty: none yet.
  std::string command;
  // Options of the program itself, as far as they are complete, with their values.
  std::vector<std::string> of_program;
};

// `words` without the name of the program; the last one may be empty.
Completion Complete(CLI::App& program, const std::vector<std::string>& words);

// The rule of an option that says what its values are, for Complete alone: it has no other place.
std::string NameOfWords(const std::vector<std::string>& words);

}  // namespace tapedeck::services::command_line
