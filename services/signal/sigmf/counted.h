// Things of a file that are left out or changed, for one note about all of them. A value.
#pragma once

#include <cstddef>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "dataplane/printable.h"
#include "services/model/words/note.h"

namespace tapedeck::services::sigmf {

class Counted {
 public:
  void Add(std::string what) {
    if (++count_ <= kMaxNamed) named_.push_back(std::move(what));
  }
  // "3 WHY: a, b, c", with the facts count and names.
  void Tell(absl::string_view code, absl::string_view why, model::Notes* notes) const {
    if (count_ == 0) return;
    std::string names;
    for (const std::string& one : named_) {
      absl::StrAppend(&names, names.empty() ? "" : ", ", dataplane::Printable(one, kMaxNameBytes));
    }
    if (count_ > kMaxNamed) absl::StrAppend(&names, ", ...");
    notes->push_back(MakeNote(code, absl::StrCat(count_, " ", why, ": ", names),
                              {{"count", absl::StrCat(count_)}, {"names", names}}));
  }

 private:
  static constexpr size_t kMaxNamed = 8;
  static constexpr size_t kMaxNameBytes = 1024;

  size_t count_ = 0;
  std::vector<std::string> named_;
};

}  // namespace tapedeck::services::sigmf
