#include "gpu_worker/job/parts_found.h"

#include <algorithm>
#include <map>
#include <optional>
#include <utility>

#include "absl/strings/str_cat.h"
#include "dataplane/reason.h"
#include "dataplane/status_macros.h"
#include "services/client/follow_moved.h"
#include "services/errors.h"
#include "services/model/part.h"
#include "services/session/answers.h"
#include "services/session/peer.h"

namespace tapedeck::gpu_worker::job {

using services::Channel;
using services::Recording;
using services::model::Part;
using services::session::PeerOf;

namespace {

// Under the name that the node has it by now.
absl::StatusOr<Recording> RecordingOf(const JobNode& node, const std::string& name) {
  TD_ASSIGN_OR_RETURN(
      auto found, services::client::FollowMoved(
                      [&](const std::string& at) { return node.storage->GetRecording(at); }, name));
  TD_RETURN_IF_ERROR(
      services::session::CheckRecording(PeerOf(node.address, found.name), found.recording));
  found.recording.name = std::move(found.name);
  return std::move(found.recording);
}

absl::Status UnlikeChannels(const std::string& name, const JobNode& node, const JobNode& other) {
  return services::ChannelInUse(
      name, absl::StrCat("is not the same on ", node.address, " and ", other.address,
                         ": block size, datatype, sample rate and commit level must be"));
}

// Of the same stream, as far as its parts can tell.
bool Alike(const Recording& one, const Recording& other) {
  return one.block_bytes == other.block_bytes && one.datatype == other.datatype &&
         one.sample_rate == other.sample_rate;
}

}  // namespace

absl::StatusOr<Channel> ChannelOf(const JobNode& node, const std::string& name) {
  TD_ASSIGN_OR_RETURN(Channel channel, node.storage->GetChannel(name));
  TD_RETURN_IF_ERROR(services::session::CheckChannel(PeerOf(node.address, name), channel));
  return channel;
}

absl::StatusOr<Channel> ChannelOfAll(const std::vector<JobNode>& nodes, const std::string& name) {
  TD_ASSIGN_OR_RETURN(Channel channel, ChannelOf(nodes.front(), name));
  for (size_t i = 1; i < nodes.size(); ++i) {
    const auto other = ChannelOf(nodes[i], name);
    if (!other.ok())
      return dataplane::Prefixed(absl::StrCat(nodes[i].address, ": "), other.status());
    if (other->block_bytes != channel.block_bytes || other->datatype != channel.datatype ||
        other->sample_rate != channel.sample_rate || other->commit != channel.commit) {
      return UnlikeChannels(name, nodes.front(), nodes[i]);
    }
  }
  return channel;
}

absl::StatusOr<FoundParts> FindParts(const std::vector<JobNode>& nodes, const std::string& name) {
  absl::Status first_error;
  std::optional<Part> whole;              // of the first part that is found
  std::map<uint32_t, FoundPart> by_part;  // from 1
  std::vector<std::string> strange;
  std::vector<std::string> silent;
  for (const JobNode& node : nodes) {
    auto recording = RecordingOf(node, name);
    if (!recording.ok()) {
      first_error.Update(recording.status());
      silent.push_back(absl::StrCat(node.address, ": ", recording.status().message()));
      continue;
    }
    const std::optional<Part> part = services::model::KnownPartOf(recording->labels);
    if (!part.has_value() && by_part.empty()) return FoundParts{.parts = {{node, *recording, ""}}};
    const bool fits =
        part.has_value() && !by_part.contains(part->number) &&
        (by_part.empty() || (part->whole == whole->whole && part->parts == whole->parts &&
                             Alike(*recording, by_part.begin()->second.recording)));
    if (!fits) {
      strange.push_back(absl::StrCat(node.address, " has another recording of this name"));
      continue;
    }
    whole = part;
    by_part[part->number] = {node, *std::move(recording), services::model::NameOfPart(*part)};
  }
  if (by_part.empty()) return first_error;
  FoundParts found{.notes = std::move(strange)};
  std::vector<std::string> missing;
  for (uint32_t number = 1; number <= whole->parts; ++number) {
    const auto it = by_part.find(number);
    if (it == by_part.end()) {
      missing.push_back(services::model::NameOfPart({.number = number, .parts = whole->parts}));
      continue;
    }
    found.parts.push_back(std::move(it->second));
  }
  for (const std::string& part : missing) {
    found.notes.push_back(absl::StrCat(part, " is not there: its blocks are missing"));
  }
  if (!missing.empty()) std::ranges::move(silent, std::back_inserter(found.notes));
  return found;
}

}  // namespace tapedeck::gpu_worker::job
