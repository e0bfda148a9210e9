// Something that a job, an import, an export or a view tells without failing. Its code says to
// programs what it is about, its text says it to people. Values; any thread.
#pragma once

#include <map>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "absl/strings/string_view.h"
#include "services/model/words/field.h"

namespace tapedeck::services::model {

struct Note {
  std::string code;  // a name of NoteCode in tapedeck/v1/notes.proto; empty: its worker knows none
  std::string text;
  std::map<std::string, std::string> facts;  // by the keys that notes.proto says for the code
  bool operator==(const Note&) const = default;
};

using Notes = std::vector<Note>;

// `code` is a name of NoteCode, without its prefix.
inline Note MakeNote(absl::string_view code, std::string text,
                     std::map<std::string, std::string> facts = {}) {
  return {.code = std::string(code), .text = std::move(text), .facts = std::move(facts)};
}

inline std::vector<std::string> TextsOf(const Notes& notes) {
  std::vector<std::string> texts;
  texts.reserve(notes.size());
  for (const Note& note : notes) texts.push_back(note.text);
  return texts;
}

template <>
struct Fields<Note> {
  static constexpr auto kList = std::make_tuple(
      Report(&Note::code, "code"), Report(&Note::text, "text"), Report(&Note::facts, "facts"));
};

}  // namespace tapedeck::services::model

namespace tapedeck::services {

using model::MakeNote;
using model::Note;
using model::Notes;

}  // namespace tapedeck::services
