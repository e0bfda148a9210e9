#include "services/tapectl/several_nodes.h"

#include <algorithm>
#include <array>
#include <map>
#include <optional>
#include <utility>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "dataplane/status_macros.h"
#include "services/errors.h"
#include "services/model/part.h"
#include "services/storage_list.h"
#include "services/tapectl/names.h"

namespace tapedeck::services::tapectl {
namespace {

constexpr std::array<absl::string_view, 9> kTakeSeveral = {"record",
                                                           "play",
                                                           "recordings list",
                                                           "recordings show",
                                                           "recordings verify",
                                                           "recordings export",
                                                           "recordings delete",
                                                           "repair",
                                                           "nodes"};

// The same as the first words.
constexpr std::array<absl::string_view, 5> kAskNoStorage = {"jobs", "profiles", "completion",
                                                            "manual", "receive"};

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
  sum->start_time_ns = std::min(sum->start_time_ns, part.start_time_ns);
  sum->end_time_ns = std::max(sum->end_time_ns, part.end_time_ns);
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

}  // namespace

bool NamesSeveral(const Program& program) { return absl::StrContains(program.storage, ','); }

absl::Status CheckSeveral(const Program& program) {
  if (!NamesSeveral(program)) return absl::OkStatus();
  if (std::ranges::find(kTakeSeveral, program.what) != kTakeSeveral.end()) return absl::OkStatus();
  const auto begins = [&](absl::string_view word) { return absl::StartsWith(program.what, word); };
  if (std::ranges::any_of(kAskNoStorage, begins)) return absl::OkStatus();
  return ArgumentInvalid("storage", absl::StrCat("--storage ", program.storage,
                                                 ": this command is about one node; several take ",
                                                 absl::StrJoin(kTakeSeveral, ", ")));
}

absl::Status CheckWhole(const Recording& recording) {
  const std::optional<model::Part> part = model::KnownPartOf(recording.labels);
  if (!part.has_value()) return absl::OkStatus();
  return ArgumentInvalid(
      "recording",
      absl::StrCat(recording.name, " is ", model::NameOfPart(*part),
                   ": name all nodes of it, --storage NODE,NODE, to export or play it"));
}

std::vector<Program> EachNode(const Program& program) {
  std::vector<Program> nodes;
  for (std::string& address : StoragesOf(program.storage)) {
    nodes.push_back(program);
    nodes.back().storage = std::move(address);
  }
  return nodes;
}

absl::StatusOr<std::string> NameOnAny(const Program& program, const std::string& text) {
  absl::Status first_error;
  std::optional<Recording> newest;
  for (const Program& node : EachNode(program)) {
    const auto catalog = node.Catalog();
    const auto name = RecordingNameOf(text, *catalog);
    const auto recording =
        name.ok() ? catalog->GetRecording(*name) : absl::StatusOr<Recording>(name.status());
    first_error.Update(recording.status());
    if (!recording.ok()) continue;
    if (!newest.has_value() || recording->start_time_ns > newest->start_time_ns) {
      newest = *recording;
    }
  }
  if (!newest.has_value()) return first_error;
  return newest->name;
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
    const std::optional<model::Part> part = model::KnownPartOf(recording.labels);
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
                           [](const JoinedParts& one) { return one.recording.start_time_ns; });
  return all;
}

}  // namespace tapedeck::services::tapectl
