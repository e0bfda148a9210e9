#include "tests/lab/log_writes/ledger.h"

#include <algorithm>
#include <vector>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "absl/strings/strip.h"
#include "dataplane/status_macros.h"

namespace tapedeck::lab {

absl::Status Ledger::Read(absl::string_view mark) {
  const absl::string_view whole = mark;
  if (mark == "begin") {
    begun_ = true;
  } else if (absl::ConsumePrefix(&mark, "at:")) {
    return ReadAt(mark);
  } else if (absl::ConsumePrefix(&mark, "deleting:")) {
    promises_[std::string(mark)].may_be_gone = true;
  } else if (absl::ConsumePrefix(&mark, "deleted:")) {
    promises_[std::string(mark)].gone = true;
  } else if (whole != "dm-log-writes-end") {
    return absl::InvalidArgumentError(absl::StrCat("no such mark: ", whole));
  }
  return absl::OkStatus();
}

absl::Status Ledger::ReadAt(absl::string_view text) {
  const std::vector<std::string> parts = absl::StrSplit(text, ':');
  uint64_t blocks = 0;
  uint64_t durable = 0;
  if (parts.size() != 4 || !absl::SimpleAtoi(parts[2], &blocks) ||
      !absl::SimpleAtoi(parts[3], &durable)) {
    return absl::InvalidArgumentError(absl::StrCat("no such mark: at:", text));
  }
  Promise& promise = promises_[parts[0]];
  promise.blocks = std::max(promise.blocks, durable);
  if (parts[1] == "RECORDING") return absl::OkStatus();
  promise.closed = parts[1];
  promise.all_blocks = blocks;
  return absl::OkStatus();
}

}  // namespace tapedeck::lab
