#include "services/model/recording/treatment.h"

#include <array>
#include <utility>

#include "absl/strings/str_cat.h"
#include "services/base/errors.h"

namespace tapedeck::services::model {
namespace {

constexpr Treatment Does(absl::string_view what) { return {.does = what}; }
// Of a recording in parts, with several nodes as --storage.
constexpr Treatment Joins(absl::string_view what) { return {.does = what, .several = true}; }
constexpr Treatment Refuses(absl::string_view remedy) {
  return {.takes = false, .does = "refuses", .remedy = remedy};
}

Treatment OfStream(Use use) {
  switch (use) {
    case Use::kList:
      return Does("one line; each with `--segments`");
    case Use::kShow:
      return Does("sums of all segments");
    case Use::kUpdate:
      return Does("changes each segment");
    case Use::kVerify:
      return Does("reads all segments");
    case Use::kDelete:
      return Does("deletes all, the newest first");
    case Use::kExport:
      return Does("one file with all samples");
    case Use::kCopy:
      return Does("one recording with all blocks");
    case Use::kMove:
      return Does("as copy, then deletes all segments");
    case Use::kRepair:
      return Refuses("repair takes recordings in parts: tapectl scrub start checks a stream");
    case Use::kPlay:
    case Use::kView:
      return Does("all segments as one");
    case Use::kMount:
      return Does("one file with all samples");
    case Use::kKeep:
      return Does("keeps each segment");
    case Use::kAnnotate:
      return Does("marks the segment with the sample");
    case Use::kExplain:
      return Does("sums of all segments");
    case Use::kTrace:
      return Does("the sessions that recorded it");
    case Use::kPython:
      return Does("one `Stream`");
    case Use::kConsole:
      return Does("a row for each segment");
  }
  return {};
}

Treatment OfStreamUnderWay(Use use) {
  switch (use) {
    case Use::kUpdate:
    case Use::kCopy:
    case Use::kMove:
      return Refuses("end the session first, or name a closed segment of it, --segment N");
    case Use::kKeep:
      return Refuses(
          "segments to come would not be kept: name one segment, --segment N, or let tapectl "
          "trigger keep those around a sample");
    case Use::kDelete:
      return Does("the node refuses: RECORDING_BUSY");
    case Use::kVerify:
      return Does("reads all that are closed, counts the others");
    case Use::kExport:
      return Does("the durable blocks at its start");
    case Use::kPlay:
      return Does("the blocks at its start; continues with `--follow`");
    case Use::kView:
      return Does("the durable blocks");
    case Use::kMount:
      return Does("grows; blocks that a ring deletes are missing");
    case Use::kAnnotate:
      return Does("marks the segment with the sample, if it has come");
    default:
      return OfStream(use);
  }
}

Treatment OfSegment(Use use) {
  switch (use) {
    case Use::kList:
      return Does("a line with `--segments`");
    case Use::kRepair:
      return OfStream(use);
    case Use::kCopy:
      return Does("a recording of its own");
    case Use::kMove:
      return Does("as copy, then deletes that one");
    case Use::kTrace:
      return Does("the sessions of its stream");
    case Use::kPython:
      return Does("`segment=N`");
    case Use::kConsole:
      return Does("its row");
    default:
      return Does("`--segment N`: that one alone");
  }
}

Treatment OfParts(Use use) {
  switch (use) {
    case Use::kList:
      return Joins("one line with its parts");
    case Use::kShow:
      return Joins("sums of all parts");
    case Use::kVerify:
      return Joins("reads all parts");
    case Use::kDelete:
      return Joins("deletes all parts");
    case Use::kExport:
    case Use::kPlay:
      return Joins("all parts as one; one part alone is refused");
    case Use::kRepair:
      return Joins("makes both parts whole");
    case Use::kCopy:
    case Use::kMove:
      return Joins("the part of the node that is named");
    case Use::kMount:
      return Refuses("tapectl recordings export or play joins the parts: --storage NODE,NODE");
    case Use::kTrace:
      return Does("the sessions of one node");
    case Use::kPython:
      return Does("each node's part, with gaps");
    case Use::kConsole:
      return Does("the part of its node");
    default:
      return Does("the part of one node, alone as `--storage`");
  }
}

Treatment OfGroup(Use use) {
  switch (use) {
    case Use::kList:
      return Does("its members with `--group`");
    case Use::kExport:
      return Does("a SigMF collection with `--group`");
    case Use::kPlay:
      return Does("a job for each member with `--group`");
    case Use::kRepair:
      return OfStream(use);
    default:
      return Does("each member by its own name");
  }
}

Treatment OfCapture(Use use) {
  switch (use) {
    case Use::kList:
      return Does("a recording; in a ring the segments it keeps");
    case Use::kKeep:
      return Does("it is kept already");
    case Use::kRepair:
      return OfStream(use);
    default:
      return Does("as a recording; in a ring by its segments");
  }
}

Treatment OfUnderWay(Use use) {
  switch (use) {
    case Use::kCopy:
    case Use::kMove:
      return Refuses("do it when the recording is closed");
    case Use::kVerify:
    case Use::kDelete:
    case Use::kRepair:
      return Does("the node refuses: RECORDING_BUSY");
    case Use::kExport:
      return Does("the durable blocks at its start");
    case Use::kPlay:
      return Does("needs `--follow`");
    case Use::kView:
      return Does("the durable blocks");
    case Use::kMount:
      return Does("grows");
    case Use::kPython:
      return Does("the blocks at its start; `follow()`");
    default:
      return Does("takes it");
  }
}

std::string Line(const std::vector<std::string>& cells) {
  std::string line = "|";
  for (const std::string& cell : cells) absl::StrAppend(&line, " ", cell, " |");
  return line + "\n";
}

}  // namespace

Treatment TreatmentOf(Use use, Kind kind) {
  switch (kind) {
    case Kind::kStream:
      return OfStream(use);
    case Kind::kStreamUnderWay:
      return OfStreamUnderWay(use);
    case Kind::kSegment:
      return OfSegment(use);
    case Kind::kParts:
      return OfParts(use);
    case Kind::kGroup:
      return OfGroup(use);
    case Kind::kCapture:
      return OfCapture(use);
    case Kind::kUnderWay:
      return OfUnderWay(use);
  }
  return {};
}

std::string TreatmentTable() {
  std::vector<std::string> heads = {"command"};
  std::string rule = "|---|";
  for (const auto& [kind, word] : EnumNames<Kind>::kTable) {
    heads.emplace_back(word);
    rule += "---|";
  }
  std::string table = absl::StrCat(Line(heads), rule, "\n");
  for (const auto& [use, command] : EnumNames<Use>::kTable) {
    std::vector<std::string> cells = {absl::StrCat("`", command, "`")};
    for (const auto& [kind, word] : EnumNames<Kind>::kTable) {
      cells.emplace_back(TreatmentOf(use, kind).does);
    }
    table += Line(cells);
  }
  return table;
}

absl::Status CheckTakes(Use use, Kind kind, absl::string_view name) {
  const Treatment treatment = TreatmentOf(use, kind);
  if (treatment.takes) return absl::OkStatus();
  return ArgumentInvalid("recording", absl::StrCat(name, " is a ", NameOf(kind), ", which ",
                                                   NameOf(use), " refuses: ", treatment.remedy));
}

absl::Status CheckTakes(Use use, const Stream& stream) {
  const Recording& one = stream.segments.front();
  const bool alone = !stream.segmented;
  const std::array<std::pair<bool, Kind>, 5> is = {
      {{stream.segmented && !stream.under_way(), Kind::kStream},
       {stream.under_way(), Kind::kStreamUnderWay},
       {alone && !one.stream.empty(), Kind::kSegment},
       {alone && one.part.has_value(), Kind::kParts},
       {alone && one.state == RecordingState::kRecording, Kind::kUnderWay}}};
  for (const auto& [it_is, kind] : is) {
    if (!it_is) continue;
    if (absl::Status checked = CheckTakes(use, kind, stream.name); !checked.ok()) return checked;
  }
  return absl::OkStatus();
}

}  // namespace tapedeck::services::model
