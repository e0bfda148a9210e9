#include <algorithm>
#include <cstdlib>
#include <sstream>

#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "tests/disaster/aftermath.h"

namespace tapedeck::disaster {
namespace {

uint64_t Up(uint64_t bytes, uint64_t step) { return (bytes + step - 1) / step * step; }

// Also what lies where a device had it before, whatever its slots say now.
Parts AllParts(const History& history, const Snapshot& now, const Image& image) {
  Parts parts = PartsIn(history.shape, image);
  if (history.shape.on_devices()) {
    for (Part& part : PartsAt(image, now.slots)) parts.push_back(std::move(part));
  }
  return parts;
}

const char* NameOf(Where where) {
  return where == Where::kInPlace       ? "in its place"
         : where == Where::kInRecording ? "in another member's files"
                                        : "in another recording's files";
}

class Verdict {
 public:
  Verdict(const History& history, size_t at, const Aftermath& aftermath)
      : history_(history),
        now_(history.snapshots[at]),
        seen_(aftermath),
        own_before_(PartsIn(history.shape, aftermath.before)),
        before_(AllParts(history, now_, aftermath.before)),
        after_(AllParts(history, now_, aftermath.after)) {}

  std::vector<Fault> Run() {
    faults_ = seen_.faults;
    for (const Take& take : now_.takes) {
      if (!seen_.gone_by_policy.contains(take.identity.id)) JudgeTake(take);
    }
    if (open()) JudgeLun();
    return std::move(faults_);
  }

 private:
  bool open() const { return seen_.lun_state == "READY" || seen_.lun_state == "DEGRADED"; }
  void Add(std::string kind, std::string detail, bool could_be_better = false) {
    faults_.push_back(
        {.kind = std::move(kind), .detail = std::move(detail), .could_be_better = could_be_better});
  }

  void JudgeTake(const Take& take) {
    std::set<uint64_t> sequences;
    for (const auto& [sequence, crc] : take.blocks) sequences.insert(sequence);
    const bool copies = history_.shape.mirrored();
    const FoundBlocks before = FindBlocks(before_, take.identity, sequences, copies);
    const FoundBlocks after = FindBlocks(after_, take.identity, sequences, copies);
    // What the node itself can find, on a device by its slots alone.
    const FoundBlocks own = history_.shape.on_devices()
                                ? FindBlocks(own_before_, take.identity, sequences, copies)
                                : before;
    for (const auto& [sequence, block] : before) {
      if (after.contains(sequence) || WentWithItsHost(take, block)) continue;
      Destroyed(take, sequence, block);
      return;
    }
    for (const auto& [sequence, block] : before) {
      const auto it = own.find(sequence);
      // A copy that is out of use is not looked at.
      const bool in_place =
          it != own.end() && it->second.where == Where::kInPlace && seen_.lun_state == "READY";
      if (!JudgeBlock(take, sequence, block, in_place)) return;
    }
    JudgePayload(take);
  }

  // It, or its check value, lay in the files of a recording that a policy has deleted, which cannot
  // know that.
  bool WentWithItsHost(const Take& take, const FoundBlock& block) const {
    const bool elsewhere =
        block.where == Where::kSomewhere || !HasHeader(own_before_, take.identity);
    return elsewhere && !seen_.gone_by_policy.empty();
  }

  void Destroyed(const Take& take, uint64_t sequence, const FoundBlock& block) {
    const bool any = std::ranges::any_of(
        after_, [&](const Part& part) { return part.id == take.identity.id && part.data; });
    const bool manifest = BestManifest(own_before_, take.identity).has_value();
    Add(absl::StrCat(any ? "valid block destroyed, " : "recording with valid blocks deleted, ",
                     NameOf(block.where), manifest ? "" : ", no sound manifest",
                     HasHeader(own_before_, take.identity) ? "" : ", no sound index header"),
        absl::StrCat(take.identity.id, "/", sequence),
        // Files of several recordings were exchanged, or slots put back: storage_node/README.md has
        // these limits.
        block.where == Where::kSomewhere || IsPutBack(take.identity, /*anywhere=*/true));
  }

  // False: the others of the recording are the same.
  bool JudgeBlock(const Take& take, uint64_t sequence, const FoundBlock& block, bool in_place) {
    if (!open()) {
      if (seen_.lun_cause.empty()) Add("LUN neither open nor named", take.identity.id);
      return !seen_.lun_cause.empty();
    }
    const std::string where = absl::StrCat(take.identity.id, "/", sequence);
    const bool manifest = BestManifest(own_before_, take.identity).has_value();
    const bool header = HasHeader(own_before_, take.identity);
    const std::string evidence =
        absl::StrCat(manifest ? "manifest" : "no manifest", header ? ", header" : ", no header");
    const auto told = seen_.told.find(take.identity.id);
    if (told == seen_.told.end()) {
      const std::string line = LineOf(take.identity);
      // store/rados/README.md has this limit: names of objects are never listed.
      const bool is_object = history_.shape.on_objects();
      if (line.empty()) {
        Add("recording neither listed nor named (" + evidence + ")", where,
            is_object || (!manifest && !header && IsPutBack(take.identity)));
      }
      if (!line.empty() && in_place && (manifest || header)) {
        Add("recording with whole blocks left out (" + evidence + ")", where + ": " + line,
            is_object || IsForOthersToMend(line));
      }
      return false;
    }
    const auto played = told->second.played.find(sequence);
    const bool given = played != told->second.played.end() && !played->second.missing;
    if (given && played->second.crc == block.payload_crc) return true;
    const bool named = !told->second.trouble.empty() || told->second.damaged.contains(sequence) ||
                       (played != told->second.played.end() && played->second.missing) ||
                       (block.where != Where::kInPlace && IsCut(take.identity));
    // storage_node/README.md has the limit of an index that is older on all members.
    const bool in_index = SequencesOf(own_before_, take.identity).contains(sequence);
    if (!named) Add("block neither played nor named (" + evidence + ")", where, !in_index);
    if (named && in_place && (manifest || header)) {
      Add("whole block not played (" + evidence + ")", where + ": " + told->second.trouble, true);
    }
    return false;
  }

  // What was never recorded, or is not what was.
  void JudgePayload(const Take& take) {
    const auto told = seen_.told.find(take.identity.id);
    if (told == seen_.told.end()) return;
    for (const auto& [sequence, played] : told->second.played) {
      if (played.missing) continue;
      const auto right = take.blocks.find(sequence);
      if (right != take.blocks.end() && right->second == played.crc) continue;
      Add("wrong payload played", absl::StrCat(take.identity.id, "/", sequence));
      return;
    }
  }

  // Whether the log says that blocks of it were cut off, whose bytes are elsewhere.
  bool IsCut(const Identity& identity) const {
    std::istringstream log(seen_.log);
    for (std::string line; std::getline(log, line);) {
      const bool salvaged = absl::StrContains(line, "\"recording salvaged\"");
      if (salvaged && absl::StrContains(line, identity.id) &&
          !absl::StrContains(line, " not_whole=0 ")) {
        return true;
      }
    }
    return false;
  }

  // Whether the slots that it had are sound, and another's or free: on all members, or anywhere. If
  // its row is gone as well, storage_node/README.md has that limit.
  bool IsPutBack(const Identity& identity, bool anywhere = false) const {
    const auto sound = SoundSlotsOf(seen_.before);
    bool any = false;
    for (const auto& [member, slots] : now_.slots) {
      for (const Slot& had : slots) {
        if (had.id != identity.id) continue;
        const auto on_member = sound.find(member);
        if (on_member == sound.end() ||
            std::ranges::none_of(on_member->second, [&](const Slot& slot) {
              return slot.number == had.number && slot.id != identity.id;
            })) {
          if (!anywhere) return false;
          continue;
        }
        any = true;
      }
    }
    return any;
  }

  // Whether such a line of the log says that the slot is damaged that it had on a device.
  bool NamesSlot(const std::string& line, const Identity& identity) const {
    if (!absl::StrContains(line, "slots damaged")) return false;
    const std::string ranges = line.substr(line.rfind('=') + 1);  // slots=0-3,7
    for (const auto& [member, slots] : now_.slots) {
      for (const Slot& slot : slots) {
        if (slot.id == identity.id && absl::StrContains(line, absl::StrCat("/m", member, " ")) &&
            HasNumber(ranges, slot.number)) {
          return true;
        }
      }
    }
    return false;
  }

  static bool HasNumber(const std::string& ranges, uint64_t number) {
    for (const absl::string_view range : absl::StrSplit(ranges, ',')) {
      const std::pair<absl::string_view, absl::string_view> ends =
          absl::StrSplit(range, absl::MaxSplits('-', 1));
      uint64_t first = 0;
      if (!absl::SimpleAtoi(ends.first, &first)) return false;
      uint64_t last = first;
      if (!ends.second.empty() && !absl::SimpleAtoi(ends.second, &last)) return false;
      if (number >= first && number <= last) return true;
    }
    return false;
  }

  // What lies where its manifest or its channel's file was is not ours, or another recording's, and
  // is not overwritten.
  static bool IsForOthersToMend(const std::string& line) {
    return absl::StrContains(line, "symbolic link") || absl::StrContains(line, "left alone") ||
           absl::StrContains(line, "is that of another recording") ||
           absl::StrContains(line, "is another's") ||
           // Every member has lost what says that its LUN has got more.
           absl::StrContains(line, " members, and luns/");
  }

  // Of the log, that names a recording, or the folder that it lies in.
  std::string LineOf(const Identity& identity) const {
    std::istringstream log(seen_.log);
    for (std::string line; std::getline(log, line);) {
      const bool left =
          absl::StrContains(line, "left out") || absl::StrContains(line, "left alone");
      const bool error = absl::StrContains(line, "error") || absl::StrContains(line, "warning");
      if (absl::StrContains(line, identity.id) && (left || error)) return line;
      if (NamesSlot(line, identity)) return line;
      if (left && (absl::StrContains(line, "names=" + identity.channel + " ") ||
                   absl::StrContains(line, "names=" + identity.channel + ",") ||
                   line.ends_with("names=" + identity.channel) ||
                   absl::StrContains(line, " " + identity.channel + ",") ||
                   absl::StrContains(line, "\"" + identity.channel + ",") ||
                   absl::StrContains(line, " " + identity.channel + "\""))) {
        return line;
      }
    }
    return "";
  }

  void JudgeLun() {
    uint64_t used = 0;
    bool all = true;
    const Parts own_after = PartsIn(history_.shape, seen_.after);
    for (const auto& [id, told] : seen_.told) {
      if (seen_.gone_by_policy.contains(id)) continue;
      const auto take = std::ranges::find_if(
          now_.takes, [&, id = id](const Take& each) { return each.identity.id == id; });
      const auto manifest =
          take == now_.takes.end() ? std::nullopt : BestManifest(own_after, take->identity);
      all = all && manifest.has_value();
      // One that the node could not close is in the list as such, and in no account.
      if (manifest.has_value() && manifest->closed && told.closed) {
        used += FootprintOf(history_.shape, *manifest);
      }
    }
    if (all && used != seen_.used_bytes && !history_.shape.on_objects()) {
      Add("the account differs from the members' manifests",
          absl::StrCat("used ", seen_.used_bytes, ", the manifests say ", used),
          // Where old manifests were put back on all members, the newer row still counts. Policies
          // read the manifest before they delete.
          seen_.used_bytes > used);
    }
    const auto texts = LunTexts(seen_.after);
    for (const auto& [member, text] : LunTexts(seen_.before)) {
      if (VersionOf(text.description) > VersionOf(seen_.lun_description)) {
        Add("older configuration in force than a member has",
            absl::StrCat("m", member, " said ", text.description, ", the LUN ",
                         seen_.lun_description),
            // storage_node/README.md has the limit of a member that no other one knows any more.
            IsUnknown(member));
      }
      const auto now = texts.find(member);
      if (now != texts.end() && now->second.members < text.members) {
        Add("a member's list of members got shorter",
            absl::StrCat("m", member, ": ", text.members, " to ", now->second.members));
      }
    }
  }

  // The other members' lists are shorter, or gone, and STATE is old or gone, too.
  bool IsUnknown(uint32_t member) const {
    return std::ranges::none_of(LunTexts(seen_.before), [&](const auto& one) {
      return one.first != member && one.second.members > member;
    });
  }

  const History& history_;
  const Snapshot& now_;
  const Aftermath& seen_;
  const Parts own_before_, before_, after_;
  std::vector<Fault> faults_;
};

}  // namespace

uint64_t FootprintOf(const Shape& shape, const ManifestText& manifest) {
  const uint64_t members = std::max(1u, manifest.members);
  const uint64_t step = shape.on_devices() ? 4 << 20 : 4096;
  uint64_t bytes = 0;
  for (uint64_t member = 0; member < members; ++member) {
    const uint64_t rows = (manifest.blocks + members - 1 - member) / members;
    bytes += Up(rows * manifest.block_bytes, step);
    if (manifest.blocks > 0 && member < 2) bytes += Up(3 * 4096 + manifest.blocks * 128, step);
    if (!shape.on_devices()) bytes += Up(manifest.text_bytes, step);
  }
  return bytes;
}

std::optional<ManifestText> BestManifest(const Parts& parts, const Identity& identity) {
  std::optional<ManifestText> best;
  for (const Part& part : parts) {
    if (!part.manifest.has_value() || part.id != identity.id) continue;
    if (part.manifest->recording != identity.recording || part.manifest->lun != identity.lun) {
      continue;
    }
    if (!best.has_value() || part.manifest->generation > best->generation) best = part.manifest;
  }
  return best;
}

int VersionOf(const std::string& description) {
  return description.empty() ? 0 : std::atoi(description.c_str() + 1);
}

std::vector<Fault> Judge(const History& history, size_t at, const Aftermath& aftermath) {
  return Verdict(history, at, aftermath).Run();
}

}  // namespace tapedeck::disaster
