#include "gpu_worker/job/parts_found.h"

#include <algorithm>
#include <map>
#include <memory>
#include <optional>
#include <utility>

#include "absl/strings/str_cat.h"
#include "dataplane/reason.h"
#include "dataplane/status_macros.h"
#include "services/base/errors.h"
#include "services/base/threads/task_thread.h"
#include "services/model/recording/part.h"
#include "services/rpc/client/follow_moved.h"
#include "services/session/opening/loss.h"
#include "services/session/parts/part_facts.h"
#include "services/session/protocol/check.h"

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

bool AlikeChannels(const Channel& one, const Channel& other) {
  return one.block_bytes == other.block_bytes && one.datatype == other.datatype &&
         one.sample_rate == other.sample_rate && one.commit == other.commit;
}

// A call that has run out of its time has no reason.
bool MayPass(const absl::Status& error) {
  return services::session::MayPass(error) || absl::IsDeadlineExceeded(error);
}

// Each on a thread of its own: those that do not answer take their time together.
template <typename Answer>
absl::StatusOr<std::vector<absl::StatusOr<Answer>>> AskAll(
    std::span<const JobNode> nodes, const std::string& name,
    absl::StatusOr<Answer> (*ask)(const JobNode&, const std::string&)) {
  std::vector<absl::StatusOr<Answer>> answers(nodes.size());
  std::vector<std::unique_ptr<services::TaskThread>> threads;
  for (size_t i = 0; i < nodes.size(); ++i) {
    TD_ASSIGN_OR_RETURN(threads.emplace_back(), services::TaskThread::Create("td-ask"));
    threads.back()->Run([&, i] { answers[i] = ask(nodes[i], name); });
  }
  threads.clear();  // waits for each
  return answers;
}

services::Note AbsentNote(const Part& part, bool elsewhere) {
  return services::MakeNote(
      "PART_ABSENT",
      absl::StrCat(services::model::NameOfPart(part),
                   elsewhere ? " is not there: blocks that it alone has are missing"
                             : " is not there: its blocks are missing"),
      {{"part", absl::StrCat(part.number)},
       {"parts", absl::StrCat(part.parts)},
       {"copies", absl::StrCat(part.copies)}});
}

services::Note UnknownNote(const JobNode& node, const absl::Status& error) {
  return services::MakeNote("PART_UNKNOWN", absl::StrCat(node.address, ": ", error.message()),
                            {{"node", node.address}, {"reason", services::parts::ReasonIn(error)}});
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

absl::StatusOr<Channel> ChannelOfAll(std::vector<JobNode>& nodes, const std::string& name) {
  if (nodes.size() == 1) return ChannelOf(nodes.front(), name);
  TD_ASSIGN_OR_RETURN(const std::vector<absl::StatusOr<Channel>> answers,
                      AskAll<Channel>(nodes, name, &ChannelOf));
  size_t there = nodes.size();
  for (size_t i = 0; i < nodes.size(); ++i) {
    if (answers[i].ok()) {
      there = std::min(there, i);
      if (AlikeChannels(*answers[there], *answers[i])) continue;
      return UnlikeChannels(name, nodes[there], nodes[i]);
    }
    nodes[i].away = answers[i].status();
    if (!MayPass(nodes[i].away)) {
      return dataplane::Prefixed(absl::StrCat(nodes[i].address, ": "), nodes[i].away);
    }
  }
  if (there == nodes.size()) return nodes.front().away;
  return answers[there];
}

const JobNode& FirstThere(const std::vector<JobNode>& nodes) {
  const auto there = std::ranges::find_if(nodes, [](const JobNode& n) { return n.away.ok(); });
  return there == nodes.end() ? nodes.front() : *there;
}

absl::StatusOr<FoundParts> FindParts(const std::vector<JobNode>& nodes, const std::string& name) {
  // What is whole is there at once, whatever becomes of the others.
  auto first = RecordingOf(nodes.front(), name);
  if (first.ok() && !first->part.has_value())
    return FoundParts{.parts = {{nodes.front(), *first, ""}}};
  TD_ASSIGN_OR_RETURN(auto answers,
                      AskAll<Recording>(std::span(nodes).subspan(1), name, &RecordingOf));
  answers.insert(answers.begin(), std::move(first));
  absl::Status first_error;
  std::optional<Part> whole;              // of the first part that is found
  std::map<uint32_t, FoundPart> by_part;  // from 1
  services::Notes strange;
  services::Notes silent;
  for (size_t i = 0; i < nodes.size(); ++i) {
    const JobNode& node = nodes[i];
    auto& recording = answers[i];
    if (!recording.ok()) {
      first_error.Update(recording.status());
      silent.push_back(UnknownNote(node, recording.status()));
      continue;
    }
    const std::optional<Part> part = recording->part;
    if (!part.has_value() && by_part.empty()) return FoundParts{.parts = {{node, *recording, ""}}};
    const bool fits =
        part.has_value() && !by_part.contains(part->number) &&
        (by_part.empty() || (part->whole == whole->whole && part->parts == whole->parts &&
                             Alike(*recording, by_part.begin()->second.recording)));
    if (!fits) {
      strange.push_back(services::MakeNote(
          "PART_FOREIGN", absl::StrCat(node.address, " has another recording of this name"),
          {{"node", node.address}}));
      continue;
    }
    whole = part;
    by_part[part->number] = {node, *std::move(recording), services::model::NameOfPart(*part)};
  }
  if (by_part.empty()) return first_error;
  FoundParts found{.notes = std::move(strange)};
  std::vector<Part> missing;
  for (uint32_t number = 1; number <= whole->parts; ++number) {
    const auto it = by_part.find(number);
    if (it == by_part.end()) {
      missing.push_back({.number = number, .parts = whole->parts, .copies = whole->copies});
      continue;
    }
    found.parts.push_back(std::move(it->second));
  }
  // Each block is in as many parts as there are copies.
  const bool elsewhere = missing.size() < whole->copies;
  for (const Part& part : missing) found.notes.push_back(AbsentNote(part, elsewhere));
  if (!missing.empty()) std::ranges::move(silent, std::back_inserter(found.notes));
  return found;
}

}  // namespace tapedeck::gpu_worker::job
