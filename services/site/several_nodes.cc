#include "services/site/several_nodes.h"

#include <algorithm>
#include <functional>
#include <map>
#include <optional>
#include <utility>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "dataplane/log.h"
#include "dataplane/reason.h"
#include "dataplane/status_macros.h"
#include "services/base/errors.h"
#include "services/model/recording/part.h"
#include "services/model/words/storage_list.h"
#include "services/site/names.h"
#include "services/site/node_lists.h"

namespace tapedeck::services::tapectl {
namespace {

RecordingState StateOf(RecordingState one, RecordingState other) {
  for (const auto state :
       {RecordingState::kRecording, RecordingState::kDeleting, RecordingState::kSalvaged}) {
    if (one == state || other == state) return state;
  }
  return one;
}

uint64_t Stored(const Recording& part) {
  return part.blocks - std::min(part.blocks, part.missing_blocks);
}

void Add(const Recording& part, Recording* sum) {
  sum->state = StateOf(sum->state, part.state);
  sum->bytes += part.bytes;
  sum->open_time_ns = std::min(sum->open_time_ns, part.open_time_ns);
  sum->start_time_ns = model::Earlier(sum->start_time_ns, part.start_time_ns);
  sum->close_time_ns = std::max(sum->close_time_ns, part.close_time_ns);
  sum->annotations.insert(sum->annotations.end(), part.annotations.begin(), part.annotations.end());
  if (sum->cause.empty()) sum->cause = part.cause;
}

// Where each part has all blocks, those of the one that has most: what another one has beside,
// manifests do not say.
void AddBlocks(uint64_t blocks, JoinedParts* joined) {
  uint64_t& all = joined->recording.blocks;
  all = joined->copies == joined->of ? std::max(all, blocks) : all + blocks;
}

JoinedParts First(const Recording& recording, const std::optional<model::Part>& part) {
  JoinedParts joined{.recording = recording};
  if (!part.has_value()) return joined;
  joined.of = part->parts;
  joined.copies = part->copies;
  joined.recording.blocks = Stored(recording);
  joined.recording.missing_blocks = 0;
  joined.recording.durable_watermark = 0;
  joined.recording.uid.clear();
  return joined;
}

bool IsWhole(const Recording& recording) { return !recording.part.has_value(); }

std::string PlacedName(const FoundRecording& one) {
  return absl::StrCat(one.node, "/", one.recording.name);
}

// What each node has under that name; the first error where none has, or where one that must answer
// does not.
absl::StatusOr<std::vector<FoundRecording>> FindOnEach(const Nodes& nodes, const std::string& text,
                                                       Asked asked) {
  absl::Status first_error;
  std::vector<FoundRecording> found;
  for (const Nodes& node : EachNode(nodes)) {
    const auto catalog = node.Catalog();
    const auto name = RecordingNameOf(text, *catalog);
    auto recording =
        name.ok() ? catalog->GetRecording(*name) : absl::StatusOr<Recording>(name.status());
    if (asked == Asked::kAll && !recording.ok() && !absl::IsNotFound(recording.status())) {
      return dataplane::Prefixed(absl::StrCat(node.storage, ": "), recording.status());
    }
    if (!recording.ok() && !absl::IsNotFound(recording.status()) &&
        absl::EndsWith(text, "/latest")) {
      dataplane::Log(
          dataplane::LogLevel::kWarning, "site",
          "a node does not answer; it may have a newer recording than this one",
          {{"node", node.storage}, {"error", std::string(recording.status().message())}});
    }
    first_error.Update(recording.status());
    if (recording.ok()) found.push_back({node.storage, *std::move(recording)});
  }
  if (found.empty()) return first_error;
  return found;
}

}  // namespace

bool NamesSeveral(const Nodes& nodes) { return absl::StrContains(nodes.storage, ','); }

absl::Status CheckWhole(const Recording& recording) {
  const std::optional<model::Part> part = recording.part;
  if (!part.has_value()) return absl::OkStatus();
  return ArgumentInvalid(
      "recording",
      absl::StrCat(recording.name, " is ", model::NameOfPart(*part),
                   ": name all nodes of it, --storage NODE,NODE, to export or play it"));
}

absl::StatusOr<std::vector<FoundRecording>> ChooseMeant(std::vector<FoundRecording> found,
                                                        const std::string& text) {
  const auto start = [](const FoundRecording& one) { return one.recording.open_time_ns; };
  const auto is_copy = [](const FoundRecording& one) { return !one.recording.original.empty(); };
  if (absl::EndsWith(text, "/latest")) {
    const std::string newest = std::ranges::max_element(found, {}, start)->recording.name;
    std::erase_if(found, [&](const auto& one) { return one.recording.name != newest; });
  } else if (!absl::StrContains(text, '/') && !std::ranges::all_of(found, is_copy)) {
    // A copy has the ID of its original, which is meant while it is there.
    std::erase_if(found, is_copy);
  }
  const auto whole = [](const FoundRecording& one) { return IsWhole(one.recording); };
  const auto wholes = std::ranges::count_if(found, whole);
  if (wholes == 0) return found;
  std::erase_if(found, [&](const auto& one) { return !whole(one); });
  if (wholes == 1) return found;
  return NameInvalid(text, absl::StrCat("\"", text, "\" is on ", wholes, " nodes: name one, ",
                                        PlacedName(found[0]), " or ", PlacedName(found[1])));
}

absl::StatusOr<std::string> PlaceRecording(Nodes& nodes, const std::string& text, Asked asked) {
  TD_ASSIGN_OR_RETURN(const std::string name, TakeNode(nodes, text, 3));
  if (!NamesSeveral(nodes)) return name;
  TD_ASSIGN_OR_RETURN(std::vector<FoundRecording> found, FindOnEach(nodes, name, asked));
  TD_ASSIGN_OR_RETURN(found, ChooseMeant(std::move(found), name));
  if (!IsWhole(found.front().recording)) return found.front().recording.name;
  nodes.storage = found.front().node;
  return name;
}

std::vector<Recording> WithNodes(const std::vector<FoundRecording>& found) {
  std::map<std::string, size_t> wholes;  // by name
  for (const FoundRecording& one : found) wholes[one.recording.name] += IsWhole(one.recording);
  std::vector<Recording> out;
  for (const FoundRecording& one : found) {
    out.push_back(one.recording);
    if (IsWhole(one.recording) && wholes[one.recording.name] > 1) out.back().name = PlacedName(one);
  }
  return out;
}

std::string JoinedParts::PartsText() const {
  if (of == 0) return "-";
  std::string text = parts.size() == of ? absl::StrCat(of, of == 1 ? " part" : " parts")
                                        : absl::StrCat(parts.size() == 1 ? "part " : "parts ",
                                                       absl::StrJoin(parts, ", "), " of ", of);
  if (copies > 1) absl::StrAppend(&text, ", ", copies, " copies");
  return text;
}

std::vector<JoinedParts> JoinParts(const std::vector<Recording>& recordings) {
  std::vector<JoinedParts> all;
  std::map<std::string, size_t> places;  // of wholes, by name
  for (const Recording& recording : recordings) {
    const std::optional<model::Part>& part = recording.part;
    const auto [place, added] = places.emplace(recording.name, all.size());
    if (!part.has_value() || added) {
      all.push_back(First(recording, part));
    } else {
      JoinedParts& joined = all[place->second];
      AddBlocks(Stored(recording), &joined);
      Add(recording, &joined.recording);
    }
    if (!part.has_value()) continue;
    std::vector<uint32_t>& numbers = all[added ? all.size() - 1 : place->second].parts;
    if (std::ranges::find(numbers, part->number) == numbers.end()) numbers.push_back(part->number);
    std::ranges::sort(numbers);
  }
  for (JoinedParts& joined : all) {
    if (joined.copies < joined.of) joined.recording.blocks /= joined.copies;
  }
  std::ranges::stable_sort(all, std::greater(),
                           [](const JoinedParts& one) { return one.recording.open_time_ns; });
  return all;
}

}  // namespace tapedeck::services::tapectl
