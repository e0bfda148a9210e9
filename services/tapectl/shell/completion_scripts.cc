#include "services/tapectl/shell/completion_scripts.h"

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
  local -a found
  while IFS=$'\t' read -r word help; do
    if [[ $word == :files ]]; then
      _files
      return
    fi
    found+=("${word//:/\\:}:$help")
  done < <(${(Q)~words[1]} completion words -- "${(@Q)words[2,CURRENT-1]}" "$PREFIX" 2>/dev/null)
  _describe -V tapectl found
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
    if test "$found[1]" = :files
        __fish_complete_path "$last"
    else
        string join \n -- $found
    end
end
complete -c tapectl -f -a '(__tapectl_words)'
)fish";

}  // namespace

absl::string_view CompletionScript(const std::string& shell) {
  if (shell == "bash") return kBash;
  if (shell == "zsh") return kZsh;
  if (shell == "fish") return kFish;
  return {};
}

}  // namespace tapedeck::services::tapectl
