// What messages in the sources tell a user to type: commands and options that tapectl has.
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "tests/scratch_file.h"
#include "tests/services/tapectl/programs_own.h"
#include "tests/shared_data.h"

namespace tapedeck::services::tapectl {
namespace {

using Commands = std::set<std::string>;

// Whose messages these folders write: a bare option is one of theirs, or of a channel they name.
const std::map<std::string, Commands> kWriters = {
    {"services/formats", {"recordings import", "recordings export"}},
    {"services/copy",
     {"channel create", "recordings copy", "recordings move", "recordings import", "repair"}},
    {"services/formats/mount", {"mount"}},
};

// Walks over C++ and gathers the literals of each statement, with "X" for what is between them.
class Literals {
 public:
  explicit Literals(const std::string& code) : code_(code) {}

  std::vector<std::string> Read() {
    for (; at_ < code_.size(); ++at_) Step();
    End();
    return out_;
  }

 private:
  char Before() const { return at_ == 0 ? '\n' : code_[at_ - 1]; }
  void SkipTo(absl::string_view end) {
    const size_t found = code_.find(end.data(), at_ + 1, end.size());
    at_ = found == std::string::npos ? code_.size() : found + end.size() - 1;
  }
  void End() {
    if (!text_.empty()) out_.push_back(text_);
    text_.clear();
    between_ = false;
  }

  void Step() {
    const char c = code_[at_];
    if (c == '#' && Before() == '\n') return SkipTo("\n");
    if (c == '/' && code_.compare(at_, 2, "//") == 0) return SkipTo("\n");
    if (c == 'R' && code_.compare(at_, 2, "R\"") == 0) return SkipTo(")");
    if (c == '\'' && !absl::ascii_isalnum(Before())) {
      at_ += code_[at_ + 1] == '\\' ? 3 : 2;
      return;
    }
    if (c == '"') return ReadLiteral();
    if (c == ';' || c == '{' || c == '}') return End();
    between_ = between_ || !absl::ascii_isspace(c);
  }

  void ReadLiteral() {
    if (between_ && !text_.empty()) text_ += "X";
    between_ = false;
    for (++at_; at_ < code_.size() && code_[at_] != '"'; ++at_) {
      if (code_[at_] == '\\') ++at_;
      text_ += code_[at_];
    }
  }

  const std::string& code_;
  size_t at_ = 0;
  std::string text_;
  bool between_ = false;
  std::vector<std::string> out_;
};

bool BeginsACommand(const std::string& word) {
  return std::ranges::any_of(ProgramsOwn(), [&](const auto& one) {
    return one.first == word || absl::StartsWith(one.first, word + " ");
  });
}

bool HasOption(const Commands& commands, const std::string& option) {
  const auto has = [&](const std::string& command) {
    return ProgramsOwn().at(command).contains(option);
  };
  return has("") || std::ranges::any_of(commands, has);
}

// Returns how much of it was held against the program.
int Check(const std::string& where, const std::string& text, const Commands& writers) {
  int named = 0;
  const std::vector<std::string> parts = absl::StrSplit(text, absl::ByAnyChar(";)("));
  for (const std::string& part : parts) {
    const std::vector<std::string> words =
        absl::StrSplit(part, absl::ByAnyChar(" ,:`\""), absl::SkipEmpty());
    Commands now = writers;
    for (size_t i = 0; i < words.size(); ++i) {
      if (absl::StartsWith(words[i], "tapedeck-")) now.clear();
      if (words[i] == "tapectl" && i + 1 < words.size() && BeginsACommand(words[i + 1])) {
        now = {CommandIn(words, i + 1)};
        EXPECT_FALSE(now.contains("")) << where << ": no such command: " << text;
        if (now.contains("")) return named;
        ++named;
      } else if (absl::StartsWith(words[i], "--") && !now.empty()) {
        EXPECT_TRUE(HasOption(now, words[i])) << where << ": " << words[i] << ": " << text;
        ++named;
      }
    }
  }
  return named;
}

TEST(MessagesTest, TheProgramHasWhatTheyName) {
  int named = 0;
  const std::string root = TreeFile("");
  for (const char* part : {"dataplane", "gpu_worker", "services", "storage_node"}) {
    for (const auto& file : std::filesystem::recursive_directory_iterator(TreeFile(part))) {
      if (file.path().extension() != ".cc" && file.path().extension() != ".h") continue;
      const std::string path = file.path().string().substr(root.size());
      // Each literal there is a whole line, which tests/e2e/help_texts.sh gives to the program.
      if (absl::EndsWith(path, "shell/examples.cc")) continue;
      Commands writers;
      for (const auto& [folder, commands] : kWriters) {
        if (absl::StartsWith(path, folder + "/")) writers = commands;
      }
      const std::string code = ReadFile(file.path());
      for (const std::string& text : Literals(code).Read()) named += Check(path, text, writers);
    }
  }
  EXPECT_GT(named, 60);
}

}  // namespace
}  // namespace tapedeck::services::tapectl
