// The note of a verify sink that compares nothing. A value; any thread.
#pragma once

#include <map>
#include <string>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "services/model/words/note.h"

namespace tapedeck::gpu_worker::stages {

// `cause` is one of those that CONTENT_NOT_COMPARED has in tapedeck/v1/notes.proto.
inline services::Note NotCompared(absl::string_view cause, absl::string_view why,
                                  std::map<std::string, std::string> facts = {}) {
  facts["cause"] = std::string(cause);
  return services::MakeNote("CONTENT_NOT_COMPARED", absl::StrCat("content not compared: ", why),
                            std::move(facts));
}

}  // namespace tapedeck::gpu_worker::stages
