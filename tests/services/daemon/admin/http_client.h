// A caller of a port for HTTP that says whatever a test has it say.
#pragma once

#include <string>

#include "absl/strings/string_view.h"
#include "dataplane/fd.h"

namespace tapedeck::services::admin {

// Connected to the port of 127.0.0.1.
class HttpClient {
 public:
  explicit HttpClient(int port);

  // False if the other end has gone.
  bool Say(absl::string_view text) const;

  // All until the other end closes, or 20 s are over.
  std::string Hear() const;

  // All until `text` has come so often, or the other end closes, or 20 s pass without a word.
  std::string HearUntil(absl::string_view text, int times) const;

 private:
  dataplane::Fd socket_;
};

// The whole answer, status line and headers included.
std::string Ask(int port, absl::string_view path, absl::string_view method = "GET");

}  // namespace tapedeck::services::admin
