#include <iostream>
#include <string>

#include "absl/strings/string_view.h"
#include "services/tapectl/program/commands.h"
#include "services/tapectl/shell/value_names.h"

namespace tapedeck::services::tapectl {
namespace {

// A word is what is typed between spaces; bash has split it at `=` and `:`, too, and puts what it
// is given in the place of the last piece.
constexpr char kBash[] = R"bash(# Completion of tapectl for bash.
_tapectl() {
  local line=${COMP_LINE:0:COMP_POINT} words last cut="" word
  read -r -a words <<<"$line"
  [[ $line != *[[:space:]] ]] || words+=("")
  last=${words[${#words[@]} - 1]}
  [[ $COMP_WORDBREAKS != *[=:]* ]] || cut=${last%"${last##*[=:]}"}
  COMPREPLY=()
  while IFS=$'\t' read -r word _; do
    if [[ $word == :files ]]; then
      compopt -o default
      return
    fi
    [[ $word != *= ]] || compopt -o nospace 2>/dev/null
    COMPREPLY+=("${word#"$cut"}")
  done < <("${1/#\~/$HOME}" completion words -- "${words[@]:1}" 2>/dev/null)
}
complete -F _tapectl tapectl
)bash";

// As a file of $fpath, and to be evaluated.
constexpr char kZsh[] = R"zsh(#compdef tapectl
# Completion of tapectl for zsh.
_tapectl() {
  local word help
  local -a found end
  while IFS=$'\t' read -r word help; do
    if [[ $word == :files ]]; then
      compset -P "${(b)help}"
      _files
      return
    fi
    [[ $word != *= ]] || end=(-S "")
    found+=("${word//:/\\:}:$help")
  done < <(${(Q)~words[1]} completion words -- "${(@Q)words[2,CURRENT-1]}" "$PREFIX" 2>/dev/null)
  _describe -V tapectl found "${end[@]}"
}
if [[ $funcstack[1] == _tapectl ]]; then
  _tapectl "$@"
else
  compdef _tapectl tapectl
fi
)zsh";

constexpr char kFish[] = R"fish(# Completion of tapectl for fish.
function __tapectl_words
    set -l line (commandline -opc)
    set -l last (commandline -ct)
    set -l found ($line[1] completion words -- $line[2..] "$last" 2>/dev/null)
    if string match -q ":files*" -- "$found[1]"
        set -l before (string replace -r '^:files\t?' '' -- "$found[1]")
        set -l path (string sub -s (math (string length -- "$before") + 1) -- "$last")
        printf '%s\n' "$before"(__fish_complete_path "$path")
    else
        string join \n -- $found
    end
end
complete -c tapectl -f -a '(__tapectl_words)'
)fish";

// Of bash, zsh or fish; empty: there is none.
absl::string_view CompletionScript(const std::string& shell) {
  if (shell == "bash") return kBash;
  if (shell == "zsh") return kZsh;
  if (shell == "fish") return kFish;
  return {};
}

// A name may hold neither, a description of a user's may.
std::string OneLine(std::string text) {
  for (char& c : text) {
    if (static_cast<unsigned char>(c) < ' ') c = ' ';
  }
  return text;
}

// A line for each: the word, a tab, what it is.
absl::Status PrintWords(Program& program, const command_line::Completion& completion) {
  Words words = completion.words;
  if (words.empty() && !completion.value.empty()) words = ValueNames(program, completion);
  for (const auto& word : words) std::cout << word.text << "\t" << OneLine(word.help) << "\n";
  std::cout << std::flush;
  return absl::OkStatus();
}

}  // namespace

void AddCompletionCommand(Command tapectl, Program& program,
                          const command_line::Completion& completion) {
  const Command command =
      tapectl.AddCommand("completion",
                         "Complete commands, options and names by Tab: eval \"$(tapectl completion "
                         "bash)\"");
  for (const std::string shell : {"bash", "zsh", "fish"}) {
    command.AddCommand(shell, "Print the script that " + shell + " needs for it")
        .WhenGiven([&program, shell] {
          program.what = "completion " + shell;
          program.run = [shell](Program&) {
            std::cout << CompletionScript(shell) << std::flush;
            return absl::OkStatus();
          };
        });
  }
  command.AddCommand("words", "WORD...: print completions of a line; the shells' scripts call this")
      .WhenGiven([&program, &completion] {
        program.what = "completion words";
        program.run = [&completion](Program& self) { return PrintWords(self, completion); };
      });
}

std::optional<std::vector<std::string>> LineToComplete(int argc, char** argv) {
  const std::vector<std::string> words(argv + 1, argv + argc);
  if (words.size() < 2 || words[0] != "completion" || words[1] != "words") return std::nullopt;
  const bool dashes = words.size() > 2 && words[2] == "--";
  return std::vector<std::string>(words.begin() + (dashes ? 3 : 2), words.end());
}

}  // namespace tapedeck::services::tapectl
