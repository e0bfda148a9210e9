// The words of the model's enums: in files, on the command line and for people. Each enum's are
// here or beside it, and nowhere else. Any thread.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/string_view.h"
#include "dataplane/block/flow.h"
#include "dataplane/transport/transport.h"

namespace tapedeck::services::model {

// Has kWhat, what one value is, and kTable, pairs of a value and its word.
template <typename Enum>
struct EnumNames;

template <>
struct EnumNames<dataplane::TransferOp> {
  using enum dataplane::TransferOp;
  static constexpr absl::string_view kWhat = "transfer op";
  static constexpr std::pair<dataplane::TransferOp, absl::string_view> kTable[] = {
      {kRead, "READ"}, {kWrite, "WRITE"}, {kSend, "SEND"}};
};

template <>
struct EnumNames<dataplane::CommitLevel> {
  using enum dataplane::CommitLevel;
  static constexpr absl::string_view kWhat = "commit level";
  static constexpr std::pair<dataplane::CommitLevel, absl::string_view> kTable[] = {
      {kReceived, "received"}, {kWritten, "written"}, {kDurable, "durable"}};
};

template <>
struct EnumNames<dataplane::Direction> {
  using enum dataplane::Direction;
  static constexpr absl::string_view kWhat = "direction";
  static constexpr std::pair<dataplane::Direction, absl::string_view> kTable[] = {
      {kRecord, "RECORD"}, {kPlayback, "PLAYBACK"}};
};

// "unknown" of a number that is no value.
template <typename Enum>
constexpr absl::string_view NameOf(Enum value) {
  for (const auto& [candidate, name] : EnumNames<Enum>::kTable) {
    if (candidate == value) return name;
  }
  return "unknown";
}

// The same word in small letters, as labels of metrics and attributes of spans have it.
template <typename Enum>
std::string LabelOf(Enum value) {
  return absl::AsciiStrToLower(NameOf(value));
}

// INVALID_ARGUMENT, which shows the beginning of `text` and the words that there are.
absl::Status UnknownName(absl::string_view text, absl::string_view what,
                         const std::vector<absl::string_view>& names);

// By its word in any case.
template <typename Enum>
absl::StatusOr<Enum> EnumNamed(absl::string_view text) {
  std::vector<absl::string_view> names;
  for (const auto& [value, name] : EnumNames<Enum>::kTable) {
    if (absl::EqualsIgnoreCase(name, text)) return value;
    names.push_back(name);
  }
  return UnknownName(text, EnumNames<Enum>::kWhat, names);
}

}  // namespace tapedeck::services::model
