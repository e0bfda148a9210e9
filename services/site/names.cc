#include "services/site/names.h"

#include <algorithm>
#include <array>
#include <map>
#include <set>
#include <vector>

#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_split.h"
#include "absl/strings/strip.h"
#include "dataplane/status_macros.h"
#include "services/base/addresses/node_name.h"
#include "services/base/errors.h"
#include "services/model/recording/stream.h"
#include "services/model/words/resource_name.h"
#include "services/model/words/storage_list.h"
#include "services/rpc/client/follow_moved.h"
#include "services/site/node_lists.h"

namespace tapedeck::services::tapectl {
namespace {

absl::Status NotFound(const std::string& text, absl::string_view problem) {
  return RecordingNotFound(text, absl::StrCat("recording \"", text, "\": ", problem));
}

absl::StatusOr<std::string> LatestOf(const std::string& text, const std::string& channel,
                                     client::CatalogClient& catalog) {
  TD_ASSIGN_OR_RETURN(const std::vector<Recording> recordings, catalog.ListRecordings(channel, 1));
  if (recordings.empty()) return NotFound(text, "the channel has no recordings");
  return recordings[0].name;
}

absl::StatusOr<std::string> FindId(const std::string& id, client::CatalogClient& catalog) {
  TD_RETURN_IF_ERROR(CheckId(id));
  TD_ASSIGN_OR_RETURN(const std::vector<Recording> recordings,
                      catalog.ListRecordings("luns/-/channels/-"));
  const std::string end = absl::StrCat("/recordings/", id);
  std::set<std::string> found;
  std::map<std::string, std::string> originals;
  for (const Recording& recording : recordings) {
    const bool has = absl::EndsWith(recording.name, end) || recording.stream == id;
    const std::string channel = recording.name.substr(0, recording.name.rfind("/recordings/"));
    if (has) found.insert(channel + end);
    // A part that was mended has its own name there, on the node that it was mended from.
    const bool copy = !recording.original.empty() && recording.original != recording.name;
    if (has && copy) originals[recording.name] = recording.original;
  }
  // A copy has the ID of its original, which is meant while it is there.
  std::erase_if(originals, [&](const auto& copy) { return !found.contains(copy.second); });
  for (const auto& [copy, original] : originals) found.erase(copy);
  if (found.empty()) return NotFound(id, "no channel has it; see tapectl recordings list");
  if (found.size() > 1) {
    return NameInvalid(id,
                       absl::StrCat("recording \"", id, "\" is in ", found.size(),
                                    " channels; give its full name, for example ", *found.begin()));
  }
  return *found.begin();
}

// Whether a stream has that name, whose first segment may be gone.
bool IsStream(const std::string& name, client::CatalogClient& catalog) {
  const size_t id = name.rfind("/recordings/");
  const auto recordings = catalog.ListRecordings(name.substr(0, id));
  if (!recordings.ok()) return false;
  return std::ranges::any_of(*recordings, [&](const Recording& one) {
    return !one.stream.empty() && model::StreamNameOf(one) == name;
  });
}

// As it is, unless it is known to have moved: what else is wrong with a name, the node says. A copy
// of a segment that is gone since does not stand for its stream.
absl::StatusOr<std::string> WhereItIs(const std::string& name, client::CatalogClient& catalog) {
  bool has_moved = false;
  const auto found = client::FollowMoved(
      [&](const std::string& place) {
        has_moved = has_moved || place != name;
        return catalog.GetRecording(place);
      },
      name);
  if (has_moved && IsStream(name, catalog)) return name;
  if (found.ok()) return found->name;
  return has_moved ? absl::StatusOr<std::string>(found.status()) : name;
}

absl::Status NotMeant(const std::string& text, const Recording& found) {
  return RecordingNotFound(
      text, absl::StrCat(text, " is gone; ", found.name,
                         " is its copy or its new name; give that name if you mean it"));
}

bool IsOfName(char c) {
  return absl::ascii_isalnum(static_cast<unsigned char>(c)) ||
         absl::StrContains("_-./", std::string(1, c));
}

// Of the name that `text` begins with; a stop behind it ends a sentence.
size_t NameBytes(absl::string_view text) {
  size_t bytes = 0;
  while (bytes < text.size() && IsOfName(text[bytes])) ++bytes;
  while (bytes > 0 && text[bytes - 1] == '.') --bytes;
  return bytes;
}

// Whether a name may stand behind `before`: it goes on with no word, unless that is "HOST:PORT/".
bool BeginsName(absl::string_view before) {
  if (before.empty() || !IsOfName(before.back())) return true;
  if (!absl::ConsumeSuffix(&before, "/")) return false;
  const absl::string_view node = before.substr(before.find_last_of(" \"'(,") + 1);
  return absl::StrContains(node, ':') && !absl::StrContains(node, '/');
}

}  // namespace

absl::StatusOr<std::string> LunNameOf(const std::string& text) {
  return model::ExpandName(text, {"luns"});
}

absl::StatusOr<std::string> ChannelNameOf(const std::string& text) {
  return model::ExpandName(text, {"luns", "channels"});
}

absl::StatusOr<std::string> InletNameOf(const std::string& text) {
  return model::ExpandName(text, {"inlets"});
}

absl::StatusOr<InletAddress> InletAddressOf(const std::string& text) {
  const auto [workers, inlet] = SplitNode(text);
  const bool named = std::ranges::all_of(StoragesOf(workers), [](const std::string& worker) {
    return naming::ParseNodeName(worker).ok();
  });
  if (!named || inlet.empty()) {
    return NameInvalid(text, absl::StrCat("\"", text, "\": must be HOST:PORT/INLET"));
  }
  TD_ASSIGN_OR_RETURN(std::string name, InletNameOf(std::string(inlet)));
  return InletAddress{.worker = std::string(workers), .name = std::move(name)};
}

absl::StatusOr<std::string> JobNameOf(const std::string& text) {
  return model::ExpandName(text, {"jobs"});
}

absl::StatusOr<std::string> RecordingNameOf(const std::string& text,
                                            client::CatalogClient& catalog) {
  if (!absl::StrContains(text, '/')) return FindId(text, catalog);
  TD_ASSIGN_OR_RETURN(const std::string name,
                      model::ExpandName(text, {"luns", "channels", "recordings"}));
  const size_t id = name.rfind("/recordings/");
  if (absl::EndsWith(name, "/latest")) return LatestOf(text, name.substr(0, id), catalog);
  return WhereItIs(name, catalog);
}

absl::Status CheckNamed(const std::string& text, const Recording& found) {
  if (found.original.empty() || !absl::StrContains(text, '/')) return absl::OkStatus();
  TD_ASSIGN_OR_RETURN(const std::string name,
                      model::ExpandName(text, {"luns", "channels", "recordings"}));
  if (name == found.name || absl::EndsWith(name, "/latest")) return absl::OkStatus();
  return NotMeant(text, found);
}

absl::Status CheckMeant(const std::string& text, const Recording& found) {
  const bool is_copy = !found.original.empty() && found.original != found.name;
  if (is_copy && absl::EndsWith(found.original, absl::StrCat("/", text))) {
    return NotMeant(text, found);
  }
  return CheckNamed(text, found);
}

std::string ShortName(const std::string& cell) {
  constexpr std::array<absl::string_view, 3> kCollections = {"luns", "channels", "recordings"};
  std::vector<absl::string_view> words = absl::StrSplit(cell, '/');
  std::vector<absl::string_view> ids;
  if (absl::StrContains(words.front(), ':')) {
    ids.push_back(words.front());
    words.erase(words.begin());
  }
  if (words.empty() || words.size() % 2 != 0 || words.size() > 2 * kCollections.size()) return cell;
  for (size_t i = 0; i < words.size(); i += 2) {
    if (words[i] != kCollections[i / 2]) return cell;
    ids.push_back(words[i + 1]);
  }
  return absl::StrJoin(ids, "/");
}

std::string WithShortNames(absl::string_view text, bool luns) {
  std::string out;
  size_t done = 0;
  for (size_t at = text.find("luns/"); at != text.npos; at = text.find("luns/", done)) {
    const absl::string_view before = text.substr(done, at - done);
    const std::string name(text.substr(at, NameBytes(text.substr(at))));
    const bool long_enough = std::ranges::count(name, '/') > 1 || luns;
    absl::StrAppend(&out, before,
                    BeginsName(text.substr(0, at)) && long_enough ? ShortName(name) : name);
    done = at + name.size();
  }
  return absl::StrCat(out, text.substr(done));
}

}  // namespace tapedeck::services::tapectl
