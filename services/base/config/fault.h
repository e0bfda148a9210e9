// What is wrong with a text that somebody wrote, and where: "deck.yaml:7: rails[1].address: why".
// Any thread.
#pragma once

#include <map>
#include <set>
#include <string>

#include "absl/status/status.h"
#include "absl/strings/string_view.h"

namespace tapedeck::services::config {

struct Place {
  absl::string_view file;  // as whoever named it did
  int line = 0;            // from 1; 0: the whole file
  std::string path = {};   // of the field, "rails[1].address"; empty: no field
};

// "deck.yaml:7: rails[1].address".
std::string PlaceText(const Place& place);

// INVALID_ARGUMENT (ARGUMENT_INVALID): `place`, then why.
absl::Status Fault(const Place& place, absl::string_view why);

// Something from the file, as it may stand in an error: in quotes, printable, and cut where it is
// long.
std::string Quoted(absl::string_view text);

// Where each field of a message stood in the file that it was read from.
class Places {
 public:
  explicit Places(std::string file) : file_(std::move(file)) {}

  void Add(const std::string& path, int line) { lines_[path] = line; }
  void AddNone(const std::string& path) { none_.insert(path); }
  // Of a path that was not in the file the line is 0.
  Place Of(const std::string& path) const;
  bool Has(const std::string& path) const { return lines_.contains(path); }
  // Of a list of messages: it is empty on purpose, as the word none stands there.
  bool IsNone(const std::string& path) const { return none_.contains(path); }

 private:
  std::string file_;
  std::map<std::string, int> lines_;
  std::set<std::string> none_;
};

}  // namespace tapedeck::services::config
