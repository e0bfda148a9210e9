#include "services/observe/flight/rings_reader.h"

#include <algorithm>
#include <utility>

namespace tapedeck::services::flight {
namespace {

using dataplane::flight::Ring;
using dataplane::flight::RingLook;

// Looked at before it is asked whether they are wanted.
constexpr size_t kLookEntries = 4096;

bool Wanted(const Entry& entry, const std::set<uint32_t>& trails, const TracePlace& place) {
  return entry.time_ns >= place.since_ns && entry.time_ns <= place.until_ns &&
         (trails.empty() || trails.contains(entry.trail));
}

// Of one ring, at most `most`; true: there is more.
bool ReadRing(const Ring& ring, const std::set<uint32_t>& trails, size_t most, TracePlace* place,
              ThreadStamps* out) {
  while (out->entries.size() < most) {
    const RingLook look = ring.Look(place->at, std::min(kLookEntries, most - out->entries.size()));
    if (look.next == place->at) return false;
    // What was overwritten before the first look was never asked for.
    if (place->at > 0) out->missed += look.missed;
    place->at = look.next;
    out->thread = look.thread;
    std::ranges::copy_if(look.entries, std::back_inserter(out->entries),
                         [&](const Entry& entry) { return Wanted(entry, trails, *place); });
    const bool past = !look.entries.empty() && look.entries.back().time_ns > place->until_ns;
    if (past) return false;
  }
  return true;
}

}  // namespace

bool ReadRings(const dataplane::flight::Rings& rings, const std::set<uint32_t>& trails,
               TracePlace* place, std::vector<ThreadStamps>* out) {
  const std::vector<const Ring*> all = rings.All();
  size_t entries = 0;
  while (place->ring < all.size() && entries < kPageEntries) {
    ThreadStamps stamps{.number = static_cast<uint32_t>(place->ring)};
    const bool more = ReadRing(*all[place->ring], trails, kPageEntries - entries, place, &stamps);
    entries += stamps.entries.size();
    if (!stamps.entries.empty() || stamps.missed > 0) out->push_back(std::move(stamps));
    if (more) return true;
    ++place->ring;
    place->at = 0;
  }
  return place->ring < all.size();
}

}  // namespace tapedeck::services::flight
