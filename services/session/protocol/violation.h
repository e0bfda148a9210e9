// Errors that both ends of a session make.
#pragma once

#include "absl/status/status.h"
#include "absl/strings/string_view.h"

namespace tapedeck::services::session {

// PROTOCOL_VIOLATION: `peer` ("the worker") sent `message` ("Accept") where it does not belong.
absl::Status UnexpectedMessage(absl::string_view peer, absl::string_view message);

// PROTOCOL_VIOLATION: `field` of `peer`'s `message` has a value that cannot be. `problem` goes on
// after the field's name: "is 0".
absl::Status BadField(absl::string_view peer, absl::string_view message, absl::string_view field,
                      absl::string_view problem);

// `status` is one of these, or a message that could not even be read.
bool IsViolation(const absl::Status& status);

// Whether the peer has said why it ends a stream, so that nothing is to be said of a loss.
bool SaysWhy(const absl::Status& status);

// Looks at the fields of one message and keeps the first that is bad.
class FieldCheck {
 public:
  FieldCheck(absl::string_view peer, absl::string_view message) : peer_(peer), message_(message) {}

  FieldCheck& Require(bool good, absl::string_view field, absl::string_view problem) {
    if (!good && status_.ok()) status_ = BadField(peer_, message_, field, problem);
    return *this;
  }
  // At most `most` bytes, none of them a control character.
  FieldCheck& Text(absl::string_view text, size_t most, absl::string_view field);

  const absl::Status& status() const { return status_; }

 private:
  const absl::string_view peer_;
  const absl::string_view message_;
  absl::Status status_;
};

}  // namespace tapedeck::services::session
