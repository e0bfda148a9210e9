#include <memory>
#include <string>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "dataplane/status_macros.h"
#include "services/copying/compare.h"
#include "services/copying/copy.h"
#include "services/copying/fits.h"
#include "services/copying/place_file.h"
#include "services/copying/settle.h"
#include "services/errors.h"
#include "services/naming/node_name.h"
#include "services/tapectl/commands.h"
#include "services/tapectl/names.h"
#include "services/tapectl/node_lists.h"
#include "services/tapectl/patience.h"
#include "services/tapectl/several_nodes.h"
#include "services/tapectl/storage_peer.h"
#include "services/tapectl/units.h"

namespace tapedeck::services::tapectl {
namespace {

constexpr char kNoCopy[] = "interrupted before the copy began";

struct CopyOptions {
  std::string recording;
  std::string channel;
  std::string to_storage;  // empty: the same node
  uint64_t bytes_per_s = 0;
  bool move = false;
};

// Both ends of a copy. One thread.
struct CopyEnds {
  Program there;  // as the other node is reached
  std::unique_ptr<client::CatalogClient> from;
  std::unique_ptr<client::CatalogClient> to;
  bool same_node = false;
};

// Takes the nodes from the names of the recording and the channel.
absl::StatusOr<CopyEnds> EndsOf(Program& program, CopyOptions& options) {
  CopyEnds ends{.there = program};
  TD_ASSIGN_OR_RETURN(const std::string channel, TakeNode(ends.there, options.channel, 2));
  const bool placed = channel != options.channel;
  options.channel = channel;
  TD_ASSIGN_OR_RETURN(options.recording, PlaceRecording(program, options.recording));
  if (NamesSeveral(program)) {
    return ArgumentInvalid("recording", absl::StrCat(options.recording,
                                                     " is in parts, which are not copied together: "
                                                     "name the node of one, NODE/LUN/CHANNEL/ID"));
  }
  if (placed && !options.to_storage.empty()) {
    return ArgumentInvalid("to-storage", "the channel names its storage node itself");
  }
  if (!options.to_storage.empty()) {
    TD_ASSIGN_OR_RETURN(ends.there.storage, OneNode(program, "to-storage", options.to_storage));
  } else if (!placed) {
    ends.there.storage = program.storage;
  }
  ends.same_node = naming::IsSameNode(ends.there.storage, program.storage);
  ends.from = program.Catalog();
  ends.to = ends.there.Catalog();
  return ends;
}

absl::Status CheckSource(const Recording& source) {
  if (source.state == RecordingState::kRecording) {
    return ArgumentInvalid("recording", absl::StrCat(source.name,
                                                     " is still being written; copy it "
                                                     "once it is closed"));
  }
  if (!source.stream.empty()) {
    return ArgumentInvalid("recording", absl::StrCat(source.name,
                                                     " is a segment of a stream, which is "
                                                     "not copied; export it"));
  }
  return absl::OkStatus();
}

absl::StatusOr<copying::Wish> WishOf(Program& program, const CopyOptions& options, CopyEnds& ends,
                                     const Recording& source, const std::string& channel) {
  copying::Wish wish{.source = source, .bytes_per_s = options.bytes_per_s};
  wish.source.origin = copying::OriginOf(source);
  TD_ASSIGN_OR_RETURN(wish.from, StoragePeer(program));
  TD_ASSIGN_OR_RETURN(wish.to, StoragePeer(ends.there));
  TD_ASSIGN_OR_RETURN(wish.channel, ends.to->GetChannel(channel));
  return wish;
}

copying::PlaceFile PlaceOf(const Program& program, const copying::Wish& wish) {
  return copying::PlaceFile(program.state.empty() ? "" : absl::StrCat(program.state, "/copies"),
                            wish);
}

// Moves the blocks that are not there yet.
absl::Status MoveBlocks(Program& program, copying::Wish wish, const copying::PlaceFile& place,
                        CopyAnswer* answer) {
  InterruptWatch interrupt(kNoCopy);
  wish.place = place.Read();
  wish.begun = [&](const copying::Place& begun) { return place.Write(begun); };
  Patience patience(program, interrupt, "copy", wish.source.bytes);
  wish.progress = [&](uint64_t bytes) { return patience.Show(bytes); };
  const absl::StatusOr<copying::Copied> copied = copying::Copy(wish);
  TD_RETURN_IF_ERROR(patience.Judged(copied.status()));
  answer->recording = copied->recording;
  answer->first_block = copied->first_block;
  answer->mb_per_s = static_cast<double>(copied->bytes) / 1e6 / patience.elapsed_s();
  return absl::OkStatus();
}

// Of what is gone from where it was: it may have been moved there before.
absl::Status MovedBefore(Program& program, const CopyOptions& options, CopyEnds& ends,
                         const std::string& name, const std::string& channel,
                         const absl::Status& gone) {
  TD_ASSIGN_OR_RETURN(const auto moved, copying::FindMoved(*ends.to, name, channel));
  if (!moved.has_value()) return gone;
  TD_ASSIGN_OR_RETURN(
      const copying::Wish wish,
      WishOf(program, options, ends, {.name = name, .uid = moved->original_uid}, channel));
  PlaceOf(program, wish).Remove();
  program.Print(AnswerOf(CopyAnswer{.recording = moved->name,
                                    .original = name,
                                    .blocks = moved->blocks,
                                    .bytes = moved->bytes,
                                    .first_block = moved->blocks,
                                    .moved = true}),
                absl::StrCat(name, " has moved to ", moved->name, " before"));
  return absl::OkStatus();
}

// Neither a copy's own word nor the catalog's is a reason to delete the original.
absl::Status CompareBlocks(Program& program, copying::Wish wish, CopyEnds& ends,
                           const std::string& name) {
  TD_ASSIGN_OR_RETURN(const Recording copy, ends.to->GetRecording(name));
  InterruptWatch interrupt("interrupted before the copy was compared");
  Patience patience(program, interrupt, "compare", wish.source.bytes);
  wish.progress = [&](uint64_t bytes) { return patience.Show(bytes); };
  return patience.Judged(copying::CompareCopy(wish, copy));
}

// What is to be done with a copy that has every block.
absl::Status Settle(Program& program, const CopyOptions& options, CopyEnds& ends,
                    const copying::Wish& wish, const std::string& copy) {
  const Recording& source = wish.source;
  if (options.move) TD_RETURN_IF_ERROR(CompareBlocks(program, wish, ends, copy));
  const auto recorder = ends.there.Recorder();
  TD_RETURN_IF_ERROR(copying::CopyNotes(*ends.to, *recorder, source, copy));
  TD_RETURN_IF_ERROR(copying::CheckCopy(*ends.to, source, copy, program.job_timeout()));
  TD_ASSIGN_OR_RETURN(const std::string channel, ChannelNameOf(options.channel));
  TD_RETURN_IF_ERROR(copying::RemoveUnfinished(*ends.to, source, channel));
  if (!options.move) return absl::OkStatus();
  return copying::DeleteOriginal(*ends.from, *ends.to, *recorder, source, copy);
}

std::string CopiedText(const CopyAnswer& answer) {
  std::string text =
      absl::StrFormat("%s -> %s\n%d blocks, %s, %.1f MB/s, verified", answer.original,
                      answer.recording, answer.blocks, FormatBytes(answer.bytes), answer.mb_per_s);
  if (answer.first_block > 0) absl::StrAppend(&text, "; from block ", answer.first_block, " on");
  if (answer.moved) absl::StrAppend(&text, "; the original is deleted");
  return text;
}

absl::Status RunCopy(Program& program, const CopyOptions& given) {
  CopyOptions options = given;
  TD_ASSIGN_OR_RETURN(CopyEnds ends, EndsOf(program, options));
  TD_ASSIGN_OR_RETURN(const std::string channel, ChannelNameOf(options.channel));
  TD_ASSIGN_OR_RETURN(const std::string name, RecordingNameOf(options.recording, *ends.from));
  const absl::StatusOr<Recording> source = ends.from->GetRecording(name);
  const bool there = ends.same_node && name.starts_with(absl::StrCat(channel, "/"));
  if (options.move && (there || copying::IsGone(source.status()))) {
    const std::string original = there && source.ok() ? source->original : name;
    if (original.empty()) {
      return ArgumentInvalid("channel", absl::StrCat(name, " is in that channel"));
    }
    return MovedBefore(program, options, ends, original, channel,
                       there ? ArgumentInvalid("channel", absl::StrCat(name, " is in that channel"))
                             : source.status());
  }
  TD_RETURN_IF_ERROR(source.status());
  TD_RETURN_IF_ERROR(CheckSource(*source));
  CopyAnswer answer{.original = name, .blocks = source->blocks, .bytes = source->bytes};
  TD_ASSIGN_OR_RETURN(const copying::Wish wish, WishOf(program, options, ends, *source, channel));
  const copying::PlaceFile place = PlaceOf(program, wish);
  TD_ASSIGN_OR_RETURN(const auto copy, copying::FindCopy(*ends.to, *source, channel));
  if (copy.has_value()) {
    answer.recording = copy->name;
    answer.first_block = copy->blocks;
  } else {
    TD_RETURN_IF_ERROR(MoveBlocks(program, wish, place, &answer));
  }
  const absl::Status settled = Settle(program, options, ends, wish, answer.recording);
  // Until now another one that is told the same goes on with this copy instead of making its own.
  place.Remove();
  TD_RETURN_IF_ERROR(settled);
  answer.moved = options.move;
  program.Print(AnswerOf(answer), CopiedText(answer));
  return absl::OkStatus();
}

void AddCopyCommand(Command recordings, Program& program, const std::string& verb,
                    const std::string& help, bool move) {
  auto options = std::make_shared<CopyOptions>();
  options->move = move;
  const Command command = recordings.AddCommand(verb, help);
  command.AddOption("RECORDING", options->recording, kWhichRecordingOfNodes).Required();
  command
      .AddOption("CHANNEL", options->channel,
                 "LUN/CHANNEL or NODE/LUN/CHANNEL that takes it, of its datatype, sample rate and "
                 "block size")
      .Required();
  command
      .AddOption(
          "--to-storage", options->to_storage,
          "HOST:PORT of the storage node that has the channel; default the same node, or that "
          "of NODE/LUN/CHANNEL")
      .Check(naming::CheckNodeOrList);
  command.AddParsed("--pace", options->bytes_per_s, ParseBytes,
                    "So many bytes a second at most, e.g. 200MB; default as fast as it goes");
  SetRun<CopyOptions>(command, program, absl::StrCat("recordings ", verb), options, RunCopy);
}

}  // namespace

void AddCopyCommands(Command recordings, Program& program) {
  AddCopyCommand(recordings, program, "copy",
                 "Copy a recording into another channel, here or on another storage node; goes on "
                 "with what a copy that was broken off has left",
                 false);
  AddCopyCommand(recordings, program, "move",
                 "Copy a recording, verify the copy, and delete the original then", true);
}

}  // namespace tapedeck::services::tapectl
