// What each command does with each kind of recording. Every command that takes a recording's name
// asks here, and the table that people read is made here. Any thread.
#pragma once

#include <string>
#include <utility>

#include "absl/status/status.h"
#include "absl/strings/string_view.h"
#include "services/model/recording/stream.h"
#include "services/model/words/names.h"

namespace tapedeck::services::model {

// Who takes a recording's name.
enum class Use {
  kList,
  kShow,
  kUpdate,
  kVerify,
  kDelete,
  kExport,
  kCopy,
  kMove,
  kRepair,
  kPlay,
  kView,
  kMount,
  kKeep,
  kAnnotate,
  kExplain,
  kTrace,
  kPython,
  kConsole
};

// What the name may stand for.
enum class Kind {
  kStream,          // all segments of a session that has ended
  kStreamUnderWay,  // those of one that still records
  kSegment,         // one of them
  kParts,           // a recording of which several nodes hold parts
  kGroup,           // recordings on one clock, by --group
  kCapture,         // what a trigger has kept
  kUnderWay         // a recording that is still written
};

// As the user types it, in the table's order.
template <>
struct EnumNames<Use> {
  using enum Use;
  static constexpr absl::string_view kWhat = "use of a recording";
  static constexpr std::pair<Use, absl::string_view> kTable[] = {{kList, "recordings list"},
                                                                 {kShow, "recordings show"},
                                                                 {kUpdate, "recordings update"},
                                                                 {kVerify, "recordings verify"},
                                                                 {kDelete, "recordings delete"},
                                                                 {kExport, "recordings export"},
                                                                 {kCopy, "recordings copy"},
                                                                 {kMove, "recordings move"},
                                                                 {kRepair, "repair"},
                                                                 {kPlay, "play"},
                                                                 {kView, "view"},
                                                                 {kMount, "mount"},
                                                                 {kKeep, "keep"},
                                                                 {kAnnotate, "annotate"},
                                                                 {kExplain, "explain"},
                                                                 {kTrace, "trace"},
                                                                 {kPython, "Python"},
                                                                 {kConsole, "console"}};
};

// Heads of the table.
template <>
struct EnumNames<Kind> {
  using enum Kind;
  static constexpr absl::string_view kWhat = "kind of recording";
  static constexpr std::pair<Kind, absl::string_view> kTable[] = {
      {kStream, "stream in segments"},
      {kStreamUnderWay, "stream under way"},
      {kSegment, "segment"},
      {kParts, "recording in parts"},
      {kGroup, "group"},
      {kCapture, "triggered capture"},
      {kUnderWay, "recording under way"}};
};

struct Treatment {
  bool takes = true;
  // A few words for the table.
  absl::string_view does;
  // Of what is refused: what to do instead.
  absl::string_view remedy;
  // Of a recording in parts: it goes to all nodes of --storage.
  bool several = false;
};
Treatment TreatmentOf(Use use, Kind kind);

// The table as Markdown, with a newline behind each line.
std::string TreatmentTable();

// INVALID_ARGUMENT (ARGUMENT_INVALID): the command refuses a thing of that kind called `name`; the
// text says what to do instead.
absl::Status CheckTakes(Use use, Kind kind, absl::string_view name);
// The same for each kind that the stream, or the one recording, is of. Parts: of one node alone.
absl::Status CheckTakes(Use use, const Stream& stream);

}  // namespace tapedeck::services::model
