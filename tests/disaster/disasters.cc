#include "tests/disaster/disasters.h"

#include <algorithm>
#include <memory>
#include <optional>
#include <utility>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "tests/disaster/places.h"

namespace tapedeck::disaster {
namespace {

Bytes Cut(const Bytes& bytes, Range range) {
  Bytes cut;
  cut.Share(bytes, range.offset, range.bytes, 0);
  return cut;
}
void Replace(Bytes* bytes, Range range, const Bytes& by) {
  bytes->Zero(range.offset, range.bytes);
  bytes->Share(by, 0, range.bytes, range.offset);
}

class Generator {
 public:
  Generator(const History& history, size_t at, std::mt19937_64& random)
      : history_(history),
        at_(at),
        now_(history.snapshots[at]),
        places_(PlacesIn(history.shape, now_)),
        random_(random) {}

  std::vector<Disaster> Run() {
    uint64_t count = 1;
    while (count < 6 && random_() % 2 == 0) ++count;
    for (uint64_t i = 0; i < count; ++i) {
      const uint64_t which = random_() % 100;
      if (which < 12) {
        State();
      } else if (which < 22) {
        Rows();
      } else if (which < 24) {
        Member();
      } else {
        OfAKind();
      }
    }
    return std::move(disasters_);
  }

 private:
  void Add(std::string what, std::function<void(Image*)> strike) {
    disasters_.push_back({.what = std::move(what), .strike = std::move(strike), .rows = {}});
  }
  const Snapshot& Older() { return history_.snapshots[random_() % (at_ + 1)]; }

  // One place, or all like it of a recording, or of a member, or all there are.
  void OfAKind() {
    static constexpr const char* kWhat[] = {"manifest", "manifest", "index",   "index",
                                            "data",     "lun",      "channel", "row"};
    const size_t kinds = std::size(kWhat) - (history_.shape.on_objects() ? 0 : 1);
    const std::string what = kWhat[random_() % kinds];
    std::vector<Place> like;
    std::ranges::copy_if(places_, std::back_inserter(like),
                         [&](const Place& place) { return place.what == what; });
    if (like.empty()) return State();
    const Place chosen = like[random_() % like.size()];
    const uint64_t scope = random_() % 10;
    std::vector<Place> struck;
    for (const Place& place : like) {
      const bool same = place.path == chosen.path &&
                        (!place.range || place.range->offset == chosen.range->offset);
      const bool in = scope < 5   ? same
                      : scope < 8 ? place.recording == chosen.recording
                      : scope < 9 ? place.member == chosen.member
                                  : true;
      if (in) struck.push_back(place);
    }
    const uint64_t how = random_() % 7;
    for (const Place& place : struck) Strike(place, how, like);
  }

  void Strike(const Place& place, uint64_t how, const std::vector<Place>& like) {
    const std::string name =
        absl::StrCat(place.what, " of ", place.recording, " on m", place.member,
                     place.range ? absl::StrCat(" at ", place.range->offset)
                                 : absl::StrCat(" (", place.path, ")"));
    const uint64_t chance = random_();
    if (how == 0) return Add("lose " + name, [place](Image* image) { Lose(place, image); });
    if (how == 1) return Add("empty " + name, [place](Image* image) { CutOff(place, 0, image); });
    if (how == 2) {
      return Add("cut " + name, [place, chance](Image* image) { CutOff(place, chance, image); });
    }
    if (how == 3) {
      return Add("flip a bit of " + name,
                 [place, chance](Image* image) { Flip(place, chance, image); });
    }
    if (how == 4) {
      const Snapshot& older = Older();
      return Add(absl::StrCat("as after '", older.step, "': ", name),
                 [place, &older](Image* image) { Take(place, older.image, place, image); });
    }
    if (how == 5) {
      const Place& other = like[random_() % like.size()];
      return Add(
          absl::StrCat("swap ", name, " with that of ", other.recording, " on m", other.member),
          [place, other](Image* image) {
            const Image before = *image;
            Take(place, before, other, image);
            Take(other, before, place, image);
          });
    }
    if (place.range || history_.shape.on_objects()) {
      return Add("lose " + name, [place](Image* image) { Lose(place, image); });
    }
    Add("a link instead of " + name, [place](Image* image) {
      if (image->erase(place.path) == 0) return;
      (*image)[place.path] = {.kind = Node::Kind::kLink, .bytes = {}, .target = "/dev/null"};
    });
  }

  static Bytes* Find(const Place& place, Image* image) {
    const auto it = image->find(place.path);
    if (it == image->end() || it->second.kind != Node::Kind::kFile) return nullptr;
    return &it->second.bytes;
  }
  static void Lose(const Place& place, Image* image) {
    Bytes* const bytes = Find(place, image);
    if (bytes == nullptr) return;
    if (place.range) return bytes->Zero(place.range->offset, place.range->bytes);
    image->erase(place.path);
    // What else an object has.
    std::erase_if(*image, [&](const auto& entry) {
      return absl::StartsWith(entry.first, place.path + "@") ||
             absl::StartsWith(entry.first, place.path + "#");
    });
  }
  static void CutOff(const Place& place, uint64_t chance, Image* image) {
    Bytes* const bytes = Find(place, image);
    if (bytes == nullptr || bytes->size() == 0) return;
    if (!place.range) return bytes->Resize(chance % bytes->size());
    const uint64_t kept = chance % std::min<uint64_t>(place.range->bytes, 64 << 10);
    bytes->Zero(place.range->offset + kept, place.range->bytes - kept);
  }
  static void Flip(const Place& place, uint64_t chance, Image* image) {
    Bytes* const bytes = Find(place, image);
    if (bytes == nullptr || bytes->size() == 0) return;
    const Range range = place.range.value_or(Range{.offset = 0, .bytes = bytes->size()});
    const uint64_t end = std::min(range.offset + range.bytes, bytes->size());
    if (range.offset >= end) return;
    const uint64_t at =
        bytes->NearestUsed(range.offset, end, range.offset + chance % (end - range.offset));
    const std::string before = bytes->Read(at, 1);
    bytes->Write(at, std::string(1, static_cast<char>(before[0] ^ (1 << (chance >> 32) % 8))));
  }
  // `place` becomes what `other` is in `from`; what is not there is lost.
  static void Take(const Place& place, const Image& from, const Place& other, Image* image) {
    const auto it = from.find(other.path);
    const bool there = it != from.end() && it->second.kind == Node::Kind::kFile;
    if (!place.range) {
      if (!there || image->find(place.path) == image->end()) return;
      (*image)[place.path] = it->second;
      return;
    }
    Bytes* const bytes = Find(place, image);
    if (bytes == nullptr || !there || !other.range) return;
    Replace(bytes, *place.range, Cut(it->second.bytes, *other.range));
  }

  // All of it, or a file of it.
  void State() {
    const uint64_t which = random_() % 10, chance = random_();
    const auto forget = [](Image* image, const std::string& below) {
      std::erase_if(*image,
                    [&](const auto& entry) { return absl::StartsWith(entry.first, below); });
    };
    if (which < 3) return Add("lose STATE", [=](Image* image) { forget(image, "state"); });
    if (which < 6) {
      const Snapshot& older = Older();
      return Add(absl::StrCat("STATE as after '", older.step, "'"), [=, &older](Image* image) {
        forget(image, "state");
        for (const auto& [path, node] : older.image) {
          if (absl::StartsWith(path, "state")) (*image)[path] = node;
        }
      });
    }
    const char* const name = which < 9 ? "state/catalog.sqlite" : "state/luns/l.json";
    const Place place{.what = "state", .recording = "", .path = name};
    if (chance % 4 == 0 || which < 7) {
      return Add(absl::StrCat("lose ", name), [=](Image* image) { forget(image, name); });
    }
    const bool cut = chance % 4 == 1;
    Add(absl::StrCat(cut ? "cut " : "flip a bit of ", name), [=](Image* image) {
      if (cut) CutOff(place, chance >> 3, image);
      if (!cut) Flip(place, chance >> 3, image);
    });
  }

  void Rows() {
    if (now_.takes.empty()) return State();
    const bool all = random_() % 4 == 0;
    const size_t chosen = random_() % now_.takes.size();
    const Snapshot& older = Older();
    const bool lose = random_() % 2 == 0;
    Disaster disaster{
        .what = lose ? "lose the rows of" : "old rows of", .strike = nullptr, .rows = {}};
    for (size_t i = 0; i < now_.takes.size(); ++i) {
      if (!all && i != chosen) continue;
      const Identity& identity = now_.takes[i].identity;
      RowChange row{.channel = identity.channel, .id = identity.id, .manifest = ""};
      for (const auto& take : older.takes) {
        if (!lose && take.identity.id == identity.id) row.manifest = take.manifest;
      }
      absl::StrAppend(&disaster.what, " ", identity.id);
      disaster.rows.push_back(std::move(row));
    }
    disasters_.push_back(std::move(disaster));
  }

  // A whole one.
  void Member() {
    const std::string name = absl::StrCat("m", random_() % history_.shape.members);
    Add("lose all of " + name, [name](Image* image) {
      std::erase_if(*image, [&](const auto& entry) {
        return entry.first == name || absl::StartsWith(entry.first, name + "/");
      });
    });
  }

  const History& history_;
  const size_t at_;
  const Snapshot& now_;
  const std::vector<Place> places_;
  std::mt19937_64& random_;
  std::vector<Disaster> disasters_;
};

}  // namespace

std::vector<Disaster> MakeDisasters(const History& history, size_t at, std::mt19937_64& random) {
  return Generator(history, at, random).Run();
}

std::vector<std::string> PlantForeign(const Snapshot& snapshot, std::mt19937_64& random,
                                      Image* image) {
  std::vector<std::string> planted;
  const auto add = [&](const std::string& path, Node::Kind kind) {
    if (random() % 3 != 0 || image->contains(path)) return;
    const std::string folder = path.substr(0, path.rfind('/'));
    if (!image->contains(folder) && folder.find("20261122T") == folder.npos) return;
    if (!image->contains(folder)) {
      (*image)[folder] = {.kind = Node::Kind::kFolder, .bytes = {}, .target = {}};
    }
    Node node{.kind = kind, .bytes = {}, .target = {}};
    if (kind == Node::Kind::kFile) node.bytes.Write(0, "of somebody else: " + path);
    if (kind == Node::Kind::kLink) node.target = "../../../outside/secret";
    (*image)[path] = std::move(node);
    planted.push_back(path);
  };
  Node secret{.kind = Node::Kind::kFile, .bytes = {}, .target = {}};
  secret.bytes.Write(0, "not to be touched");
  (*image)["outside/secret"] = secret;
  planted.push_back("outside/secret");
  for (const char* member : {"m0", "m1"}) {
    const auto it = image->find(member);
    if (it == image->end() || it->second.kind != Node::Kind::kFolder) continue;
    add(absl::StrCat(member, "/notes.txt"), Node::Kind::kFile);
    add(absl::StrCat(member, "/c/readme.md"), Node::Kind::kFile);
    add(absl::StrCat(member, "/.tapedeck/more"), Node::Kind::kFile);
    add(absl::StrCat(member, "/c/20261122T065058Z-a537/data"), Node::Kind::kFile);
    add(absl::StrCat(member, "/c/20261122T065058Z-a538/index"), Node::Kind::kLink);
    for (const auto& take : snapshot.takes) {
      const std::string folder =
          absl::StrCat(member, "/", take.identity.channel, "/", take.identity.id);
      add(folder + "/mine.txt", Node::Kind::kFile);
      add(folder + "/mine.link", Node::Kind::kLink);
    }
  }
  return planted;
}

}  // namespace tapedeck::disaster
