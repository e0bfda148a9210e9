#include <memory>
#include <string>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "dataplane/status_macros.h"
#include "services/base/addresses/node_name.h"
#include "services/base/errors.h"
#include "services/copy/checkpoint_file.h"
#include "services/copy/compatible.h"
#include "services/copy/copy.h"
#include "services/copy/finish_copy.h"
#include "services/rpc/storage_session/stream_player.h"
#include "services/site/names.h"
#include "services/site/node_lists.h"
#include "services/site/several_nodes.h"
#include "services/site/units.h"
#include "services/tapectl/copies/patience.h"
#include "services/tapectl/program/commands.h"

namespace tapedeck::services::tapectl {
namespace {

struct CopyOptions {
  RecordingChoice choice;
  std::string to;  // the channel, with its node before it if it is another one
  uint64_t bytes_per_s = 0;
  bool move = false;

  model::Use use() const { return move ? model::Use::kMove : model::Use::kCopy; }
  const char* words() const { return move ? "the move" : "the copy"; }
};

// Both ends of a copy. One thread.
struct CopyNodes {
  Program there;  // as the other node is reached
  std::unique_ptr<client::CatalogClient> from;
  std::unique_ptr<client::CatalogClient> to;
  bool same_node = false;
};

// Takes the nodes from the names of the recording and the channel.
absl::StatusOr<CopyNodes> CopyNodesOf(Program& program, CopyOptions& options) {
  CopyNodes nodes{.there = program};
  TD_ASSIGN_OR_RETURN(const std::string channel, TakeAnyNode(nodes.there, "to", options.to, 2));
  const bool placed = channel != options.to;
  options.to = channel;
  TD_ASSIGN_OR_RETURN(options.choice.name, PlaceRecording(program, options.choice.name));
  if (NamesSeveral(program)) {
    return ArgumentInvalid(
        "recording",
        absl::StrCat(
            options.choice.name,
            " is in parts, and one command copies one part: name its node, NODE/LUN/CHANNEL/ID"));
  }
  if (!placed) nodes.there.storage = program.storage;
  nodes.same_node = naming::IsSameNode(nodes.there.storage, program.storage);
  nodes.from = program.Catalog();
  nodes.to = nodes.there.Catalog();
  return nodes;
}

absl::StatusOr<copying::CopyRequest> RequestOf(Program& program, const CopyOptions& options,
                                               CopyNodes& nodes, const Recording& source,
                                               const std::string& channel) {
  copying::CopyRequest request{.source = source, .bytes_per_s = options.bytes_per_s};
  request.source.origin = copying::OriginOf(source);
  TD_ASSIGN_OR_RETURN(request.from, StoragePeer(program));
  TD_ASSIGN_OR_RETURN(request.to, StoragePeer(nodes.there));
  TD_ASSIGN_OR_RETURN(request.channel, nodes.to->GetChannel(channel));
  TD_ASSIGN_OR_RETURN(const std::vector<Lun> luns, nodes.to->ListLuns());
  TD_RETURN_IF_ERROR(copying::CheckIsNoRing(request.channel, luns));
  TD_RETURN_IF_ERROR(copying::CheckKeeps(request.channel, luns, source.bytes));
  return request;
}

// All blocks of a stream as of one recording.
absl::StatusOr<copying::CopyRequest> RequestFor(Program& program, const CopyOptions& options,
                                                CopyNodes& nodes, const Stream& original,
                                                const std::string& channel) {
  const StreamLayout layout = model::LayOut(original);
  TD_RETURN_IF_ERROR(CheckMostIsThere(layout, 0, layout.whole.blocks));
  TD_ASSIGN_OR_RETURN(copying::CopyRequest request,
                      RequestOf(program, options, nodes, layout.whole, channel));
  if (!original.segmented) return request;
  request.play = [from = request.from, original, layout](uint64_t first) {
    return copying::BlocksOf(storage_session::StreamPlayer::Begin(from, original, layout, first));
  };
  return request;
}

copying::CheckpointFile CheckpointOf(const Program& program, const copying::CopyRequest& request) {
  return copying::CheckpointFile(
      program.state.empty() ? "" : absl::StrCat(program.state, "/copies"), request);
}

// Moves the blocks that are not there yet.
absl::Status MoveBlocks(Program& program, InterruptWatch& interrupt, copying::CopyRequest request,
                        CopyNodes& nodes, const copying::CheckpointFile& checkpoint,
                        CopyAnswer* answer) {
  request.checkpoint = checkpoint.Read();
  request.begun = [&](const copying::Checkpoint& begun) { return checkpoint.Write(begun); };
  const auto recorder = nodes.there.Recorder();
  Patience patience(program, interrupt, "copy", request.source.bytes);
  // What broke off is kept by nobody, and where there is no room is told once all is there.
  request.note = [&, source = request.source](const std::string& copy) mutable {
    source.kept = false;
    const absl::Status noted = copying::CopyNotes(*nodes.to, *recorder, source, copy,
                                                  [&] { return patience.Show(source.bytes); });
    return absl::IsResourceExhausted(noted) ? absl::OkStatus() : noted;
  };
  request.progress = [&](uint64_t bytes) { return patience.Show(bytes); };
  const absl::StatusOr<copying::Copied> copied = copying::Copy(request);
  TD_RETURN_IF_ERROR(patience.Judged(copied.status()));
  answer->recording = copied->recording;
  answer->first_block = copied->first_block;
  answer->mb_per_s = static_cast<double>(copied->bytes) / 1e6 / patience.elapsed_s();
  return absl::OkStatus();
}

// Of what is gone from where it was: it may have been moved there before.
absl::Status MovedBefore(Program& program, const CopyOptions& options, CopyNodes& nodes,
                         const std::string& name, const std::string& channel,
                         const absl::Status& gone) {
  TD_ASSIGN_OR_RETURN(const auto moved, copying::FindMoved(*nodes.to, name, channel));
  if (!moved.has_value()) return gone;
  TD_ASSIGN_OR_RETURN(
      const copying::CopyRequest request,
      RequestOf(program, options, nodes,
                {.name = name, .uid = moved->original_uid, .blocks = moved->blocks}, channel));
  CheckpointOf(program, request).Remove();
  program.Print(AnswerOf(CopyAnswer{.recording = moved->name,
                                    .original = name,
                                    .blocks = moved->blocks,
                                    .bytes = moved->bytes,
                                    .missing_blocks = moved->missing_blocks,
                                    .first_block = moved->blocks,
                                    .moved = true}),
                absl::StrCat(ShortName(name), " has moved to ", ShortName(moved->name), " before"));
  return absl::OkStatus();
}

// Neither a copy's own word nor the catalog's is a reason to delete the original.
absl::Status CompareBlocks(Program& program, InterruptWatch& interrupt,
                           copying::CopyRequest request, CopyNodes& nodes,
                           const std::string& name) {
  TD_ASSIGN_OR_RETURN(const Recording copy, nodes.to->GetRecording(name));
  Patience patience(program, interrupt, "compare", request.source.bytes);
  request.progress = [&](uint64_t bytes) { return patience.Show(bytes); };
  return patience.Judged(copying::CompareCopy(request, copy));
}

// As copying::DeleteOriginal, of a stream each segment. The oldest goes last: it is what another
// try knows the copy by.
absl::Status DeleteOriginal(CopyNodes& nodes, client::RecorderClient& recorder,
                            const Stream& original, const Recording& source,
                            const std::string& copy) {
  if (!original.segmented) {
    return copying::DeleteOriginal(*nodes.from, *nodes.to, recorder, source, copy);
  }
  const auto now = StreamThere(model::Use::kMove, {.name = original.name}, *nodes.from);
  if (copying::IsGone(now.status())) return absl::OkStatus();
  TD_RETURN_IF_ERROR(now.status());
  const Recording whole = model::LayOut(*now).whole;
  TD_RETURN_IF_ERROR(copying::CheckNotGoneOn(source, whole));
  TD_RETURN_IF_ERROR(copying::CopyNotes(*nodes.to, recorder, whole, copy));
  for (size_t i = now->segments.size(); i-- > 0;) {
    const Recording& segment = now->segments[i];
    const absl::Status deleted = nodes.from->DeleteRecording(segment.name, segment.etag);
    if (!copying::IsGone(deleted)) TD_RETURN_IF_ERROR(deleted);
  }
  return absl::OkStatus();
}

// What is to be done with a copy that has every block.
absl::Status FinishCopy(Program& program, InterruptWatch& interrupt, const CopyOptions& options,
                        CopyNodes& nodes, const copying::CopyRequest& request,
                        const Stream& original, const std::string& copy) {
  const Recording& source = request.source;
  if (options.move) TD_RETURN_IF_ERROR(CompareBlocks(program, interrupt, request, nodes, copy));
  const auto recorder = nodes.there.Recorder();
  TD_RETURN_IF_ERROR(copying::CopyNotes(*nodes.to, *recorder, source, copy));
  TD_RETURN_IF_ERROR(copying::CheckCopy(*nodes.to, source, copy, program.job_timeout()));
  TD_ASSIGN_OR_RETURN(const std::string channel, ChannelNameOf(options.to));
  TD_RETURN_IF_ERROR(copying::RemoveUnfinished(*nodes.to, source, channel));
  if (!options.move) return absl::OkStatus();
  return DeleteOriginal(nodes, *recorder, original, source, copy);
}

std::string CopiedText(const CopyAnswer& answer) {
  std::string text = absl::StrFormat("%s -> %s\n%d blocks, %s, %.1f MB/s, verified",
                                     ShortName(answer.original), ShortName(answer.recording),
                                     answer.blocks, FormatBytes(answer.bytes), answer.mb_per_s);
  if (answer.missing_blocks > 0) {
    absl::StrAppend(&text, "; ", answer.missing_blocks, " of the blocks are missing");
  }
  if (answer.first_block > 0) absl::StrAppend(&text, "; from block ", answer.first_block, " on");
  if (answer.moved) absl::StrAppend(&text, "; the original is deleted");
  return text;
}

// The blocks are there, moved now or before.
absl::Status CopyAll(Program& program, InterruptWatch& interrupt, const CopyOptions& options,
                     CopyNodes& nodes, const Stream& original, const std::string& channel) {
  TD_ASSIGN_OR_RETURN(const copying::CopyRequest request,
                      RequestFor(program, options, nodes, original, channel));
  const Recording& source = request.source;
  CopyAnswer answer{.original = source.name,
                    .blocks = source.blocks,
                    .bytes = source.bytes,
                    .missing_blocks = source.missing_blocks};
  const copying::CheckpointFile checkpoint = CheckpointOf(program, request);
  TD_ASSIGN_OR_RETURN(const auto copy, copying::FindCopy(*nodes.to, source, channel));
  if (copy.has_value()) {
    answer.recording = copy->name;
    answer.first_block = copy->blocks;
  } else {
    TD_RETURN_IF_ERROR(MoveBlocks(program, interrupt, request, nodes, checkpoint, &answer));
  }
  const absl::Status settled =
      FinishCopy(program, interrupt, options, nodes, request, original, answer.recording);
  // Until now another one that is told the same goes on with this copy instead of making its own.
  checkpoint.Remove();
  TD_RETURN_IF_ERROR(settled);
  answer.moved = options.move;
  program.Print(AnswerOf(answer), CopiedText(answer));
  return absl::OkStatus();
}

absl::Status RunCopy(Program& program, const CopyOptions& given) {
  InterruptWatch interrupt(
      absl::StrCat("tapectl: interrupted; run the same command again to continue ", given.words()));
  CopyOptions options = given;
  TD_ASSIGN_OR_RETURN(CopyNodes nodes, CopyNodesOf(program, options));
  TD_ASSIGN_OR_RETURN(const std::string channel, ChannelNameOf(options.to));
  absl::StatusOr<Stream> found = StreamThere(options.use(), options.choice, *nodes.from);
  const bool may_have_moved =
      copying::IsGone(found.status()) && !options.choice.segment.has_value();
  if (!found.ok() && !may_have_moved) return found.status();
  if (found.ok() && !found->segmented) {
    TD_RETURN_IF_ERROR(AddLasting(*nodes.from, *program.View(), &found->segments.front()));
  }
  std::string name;
  if (found.ok()) {
    name = found->name;
  } else {
    TD_ASSIGN_OR_RETURN(name, RecordingNameOf(options.choice.name, *nodes.from));
  }
  const bool there = nodes.same_node && name.starts_with(absl::StrCat(channel, "/"));
  if (!options.move || (!there && found.ok())) {
    TD_RETURN_IF_ERROR(found.status());
    if (options.move) {
      TD_RETURN_IF_ERROR(CheckMeant(options.choice.name, found->segments.front()));
    }
    return WithWayOn(CopyAll(program, interrupt, options, nodes, *found, channel), options.words());
  }
  const absl::Status in_it =
      ArgumentInvalid("to", absl::StrCat(name, " is already in that channel"));
  const std::string original = there && found.ok() ? found->segments.front().original : name;
  if (original.empty()) return in_it;
  return MovedBefore(program, options, nodes, original, channel, there ? in_it : found.status());
}

void AddCopyCommand(Command recordings, Program& program, const std::string& verb,
                    const std::string& help, bool move) {
  auto options = std::make_shared<CopyOptions>();
  options->move = move;
  const Command command = recordings.AddCommand(verb, help);
  AddRecordingChoice(command, options->choice);
  command
      .AddOption("--to", options->to,
                 "LUN/CHANNEL to copy into; same datatype, sample rate and block size; "
                 "HOST:PORT/LUN/CHANNEL on another storage node")
      .Required();
  command.AddParsed("--pace", options->bytes_per_s, ParseBytes,
                    "Limit in bytes per second, e.g. 200MB; default unlimited");
  SetRun<CopyOptions>(command, program, absl::StrCat("recordings ", verb), options, RunCopy);
}

}  // namespace

void AddCopyCommands(Command recordings, Program& program) {
  AddCopyCommand(recordings, program, "copy",
                 "Copy a recording into another channel, on this or another storage node; run it "
                 "again to continue",
                 false);
  AddCopyCommand(recordings, program, "move",
                 "Copy a recording, verify the copy, then delete the original", true);
}

}  // namespace tapedeck::services::tapectl
