#include "services/observe/flight/reader.h"

#include <unistd.h>

#include <algorithm>
#include <iterator>
#include <set>

#include "absl/strings/escaping.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "dataplane/clock.h"
#include "dataplane/status_macros.h"
#include "services/base/errors.h"
#include "services/observe/flight/rings_reader.h"

namespace tapedeck::services::flight {
namespace {

absl::Status BadToken() {
  return ArgumentInvalid("page_token", "page_token is not from a response of this listing");
}

std::string TokenOf(const TracePlace& place) {
  return absl::WebSafeBase64Escape(
      absl::StrCat(place.ring, "/", place.at, "/", place.since_ns, "/", place.until_ns));
}

absl::StatusOr<TracePlace> PlaceIn(const std::string& token) {
  TracePlace place;
  std::string text;
  if (!absl::WebSafeBase64Unescape(token, &text)) return BadToken();
  const std::vector<std::string> parts = absl::StrSplit(text, '/');
  if (parts.size() != 4 || !absl::SimpleAtoi(parts[0], &place.ring) ||
      !absl::SimpleAtoi(parts[1], &place.at) || !absl::SimpleAtoi(parts[2], &place.since_ns) ||
      !absl::SimpleAtoi(parts[3], &place.until_ns)) {
    return BadToken();
  }
  return place;
}

// Of a page, beside its stamps: a message has 1 MiB. Older sessions beyond are left out.
constexpr size_t kMaxTrailBytes = 256 << 10;

// Measurements of each session, where more than one is given: clocks of the same two machines.
constexpr size_t kSharedClocks = 32;

size_t BytesOf(const TrailInfo& trail) {
  constexpr size_t kFixed = 64;
  constexpr size_t kClock = 32;
  size_t bytes = kFixed + trail.session.size() + trail.job.size() + trail.storage.size() +
                 trail.recording.size() + kClock * trail.clocks.size();
  for (const std::string& rail : trail.rails) bytes += rail.size() + 2;
  return bytes;
}

// Keeps the last, and of the others some.
void Thin(std::vector<ClockSample>& clocks) {
  if (clocks.size() <= kSharedClocks) return;
  std::vector<ClockSample> kept;
  for (size_t i = 1; i <= kSharedClocks; ++i) {
    kept.push_back(clocks[i * clocks.size() / kSharedClocks - 1]);
  }
  clocks = std::move(kept);
}

bool Matches(const TrailInfo& trail, const TraceRequest& request) {
  if (!request.session.empty()) return trail.session == request.session;
  if (!request.job.empty()) return trail.job == request.job;
  if (!request.recording.empty()) return trail.recording == request.recording;
  return true;
}

}  // namespace

std::vector<TrailInfo> Reader::TrailsOf(const TraceRequest& request) const {
  std::vector<TrailInfo> matching;
  std::ranges::copy_if(trails_.All(), std::back_inserter(matching),
                       [&](const TrailInfo& trail) { return Matches(trail, request); });
  if (matching.size() > 1) std::ranges::for_each(matching, Thin, &TrailInfo::clocks);
  size_t bytes = 0;
  const auto first = std::ranges::find_if(
      matching.rbegin(), matching.rend(),
      [&](const TrailInfo& trail) { return (bytes += BytesOf(trail)) > kMaxTrailBytes; });
  matching.erase(matching.begin(), first.base());
  return matching;
}

absl::StatusOr<TracePage> Reader::Read(const TraceRequest& request) const {
  if (!request.dump.empty()) {
    if (dumps_ == nullptr)
      return absl::NotFoundError("this node keeps no dumps: it has no --state");
    return dumps_->Read(request.dump, request.page_token);
  }
  const dataplane::SystemClock clock;
  TracePage page;
  TracePlace place{.until_ns = clock.NowNs()};
  if (request.last_ns > 0) place.since_ns = place.until_ns - request.last_ns;
  const std::vector<TrailInfo> trails = TrailsOf(request);
  if (!request.page_token.empty()) {
    TD_ASSIGN_OR_RETURN(place, PlaceIn(request.page_token));
  } else {
    page.trace = {.node = node_.name,
                  .role = node_.role,
                  .pid = getpid(),
                  .now_ns = clock.NowNs(),
                  .utc_ns = clock.WallNs(),
                  .trails = trails,
                  .threads_without = rings_.refused()};
    if (dumps_ != nullptr) page.trace.dumps = dumps_->Names();
  }
  if (trails.empty()) return page;
  std::set<uint32_t> ids;
  for (const TrailInfo& trail : trails) ids.insert(trail.id);
  if (ReadRings(rings_, ids, &place, &page.trace.threads)) page.next_page_token = TokenOf(place);
  return page;
}

}  // namespace tapedeck::services::flight
