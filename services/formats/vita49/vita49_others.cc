#include <algorithm>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "services/formats/vita49/vita49_packets.h"
#include "services/signal/vita49/packet.h"

namespace tapedeck::services::formats {
namespace {

// That are counted one by one.
constexpr size_t kMostStreams = 64;
constexpr size_t kMostFlows = 8;
// What a frame of VITA 49.1 begins with.
constexpr absl::string_view kFrame = "VRLP";

std::string NameOf(const std::optional<uint32_t>& stream) {
  return stream.has_value() ? absl::StrCat(*stream) : "without a number";
}

}  // namespace

void Vita49Others::AddStream(const std::optional<uint32_t>& stream) {
  const bool kept = streams_.size() < kMostStreams || streams_.contains(stream);
  ++(kept ? streams_[stream] : streams_beyond_);
}

void Vita49Others::AddFlow(const Flow& flow) {
  auto found = std::ranges::find(flows_, flow, &std::pair<Flow, uint64_t>::first);
  if (found == flows_.end() && flows_.size() < kMostFlows) {
    found = flows_.insert(found, {flow, 0});
  }
  ++(found == flows_.end() ? flows_beyond_ : found->second);
}

void Vita49Others::AddUndecoded(std::span<const std::byte> packet) {
  const absl::string_view text(reinterpret_cast<const char*>(packet.data()), packet.size());
  if (absl::StartsWith(text, kFrame)) {
    ++framed_;
    return;
  }
  switch (vita49::WhyUndecoded(packet)) {
    case vita49::Undecoded::kOtherType:
      ++other_types_;
      break;
    case vita49::Undecoded::kSpectrum:
      ++spectra_;
      break;
    case vita49::Undecoded::kUnsound:
      ++unsound_;
      break;
  }
}

model::Notes Vita49Others::Notes() const {
  model::Notes notes;
  const auto list = [&](absl::string_view code, const auto& counted, uint64_t beyond,
                        absl::string_view what, const auto& name) {
    uint64_t all = beyond;
    std::vector<std::string> names;
    for (const auto& [one, count] : counted) {
      all += count;
      names.push_back(absl::StrCat(name(one), " (", count, ")"));
    }
    if (beyond > 0) names.push_back("more");
    const std::string joined = absl::StrJoin(names, ", ");
    NotePackets(code, all, absl::StrCat(what, ": ", joined), &notes, {{"names", joined}});
  };
  NotePackets("PACKETS_FRAMED", framed_, "are in frames of VITA 49.1 (VRLP), which are not read",
              &notes);
  NotePackets("PACKETS_OTHER_TYPE", other_types_,
              "are commands or extensions of VITA 49.2, which are not read", &notes);
  NotePackets("PACKETS_SPECTRA", spectra_, "hold spectra, which are not read", &notes);
  NotePackets("PACKETS_UNSOUND", unsound_, "are not valid packets of VITA 49.2", &notes);
  list("PACKETS_OTHER_STREAM", streams_, streams_beyond_,
       "are of other streams, and left out; --stream takes one of them", NameOf);
  list("PACKETS_OTHER_SENDER", flows_, flows_beyond_,
       "have the stream's number, but another sender or port, and are left out; tcpdump -r A -w B "
       "'src HOST and dst port PORT' makes a capture of one of them",
       [](const Flow& flow) { return flow.Text(); });
  return notes;
}

}  // namespace tapedeck::services::formats
