#include <algorithm>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/time/time.h"
#include "dataplane/now.h"
#include "dataplane/printable.h"
#include "dataplane/reason.h"
#include "dataplane/status_macros.h"
#include "services/base/errors.h"
#include "services/model/recording/damage_kind.h"
#include "services/model/recording/part.h"
#include "services/site/names.h"
#include "services/site/several_nodes.h"
#include "services/site/streams.h"
#include "services/tapectl/program/commands.h"
#include "services/tapectl/terminal/progress.h"

namespace tapedeck::services::tapectl {
namespace {

// More are counted, and all of them are in the JSON.
constexpr size_t kMaxDamagedRows = 20;

// Known never to have been stored: a gap, no damage.
bool IsMissing(const DamagedBlock& block) { return block.kind == services::DamageKind::kMissing; }

// One recording after the other, as one run.
class Verifier {
 public:
  Verifier(client::CatalogClient& catalog, absl::Duration timeout, Verification& result)
      : catalog_(catalog), deadline_(dataplane::SteadyTime() + timeout), result_(result) {}

  absl::Status Verify(const Stream& stream);
  // Of a recording in parts what one node has.
  absl::Status VerifyPart(const Program& node, const std::string& name);

 private:
  absl::Status VerifyOne(const std::string& name);
  void OnProgress(const std::string& name, const VerifyProgress& progress);

  client::CatalogClient& catalog_;
  const absl::Time start_ = dataplane::SteadyTime();
  const absl::Time deadline_;
  Verification& result_;
  uint64_t checked_before_ = 0;
  uint64_t blocks_before_ = 0;
  uint64_t expected_ = 0;     // blocks of all
  uint64_t block_bytes_ = 0;  // 0: unknown
  ProgressBar bar_{"verify"};
};

absl::Status Verifier::Verify(const Stream& stream) {
  block_bytes_ = stream.segments.front().block_bytes;
  if (!stream.segmented) return VerifyOne(stream.segments.front().name);
  for (const Recording& segment : stream.segments) expected_ += segment.blocks;
  for (const Recording& segment : stream.segments) {
    if (segment.state == RecordingState::kRecording) {
      ++result_.open_segments;
      continue;
    }
    const absl::Status verified = VerifyOne(segment.name);
    // A ring lets the oldest go while the others are read.
    if (absl::IsNotFound(verified)) continue;
    TD_RETURN_IF_ERROR(verified);
    ++result_.segments;
    checked_before_ = result_.found.checked_blocks;
    blocks_before_ = result_.found.blocks;
  }
  if (result_.segments > 0) return absl::OkStatus();
  // What is wrong with all of them, the node says of the last.
  return VerifyOne(stream.segments.back().name);
}

absl::Status Verifier::VerifyPart(const Program& node, const std::string& name) {
  checked_before_ = result_.found.checked_blocks;
  blocks_before_ = result_.found.blocks;
  return node.Catalog()->VerifyRecording(
      name, deadline_ - dataplane::SteadyTime(),
      [&](const VerifyProgress& progress) { OnProgress(node.storage, progress); });
}

absl::Status Verifier::VerifyOne(const std::string& name) {
  return catalog_.VerifyRecording(
      name, deadline_ - dataplane::SteadyTime(),
      [&](const VerifyProgress& progress) { OnProgress(name, progress); });
}

void Verifier::OnProgress(const std::string& name, const VerifyProgress& progress) {
  VerifyProgress& found = result_.found;
  found.checked_blocks = checked_before_ + progress.checked_blocks;
  found.blocks = blocks_before_ + progress.blocks;
  found.damaged.insert(found.damaged.end(), progress.damaged.begin(), progress.damaged.end());
  result_.places.resize(found.damaged.size(), name);
  const double all = static_cast<double>(std::max<uint64_t>({expected_, found.blocks, 1}));
  const double elapsed_s = absl::ToDoubleSeconds(dataplane::SteadyTime() - start_);
  bar_.Show({.fraction = static_cast<double>(found.checked_blocks) / all,
             .blocks = found.checked_blocks,
             .all_blocks = std::max(expected_, found.blocks),
             .mb_per_s = static_cast<double>(found.checked_blocks * block_bytes_) / 1e6 / elapsed_s,
             .elapsed_s = elapsed_s});
}

std::string LineOf(const Verification& verification) {
  std::string line = absl::StrCat("verified ", ShortName(verification.recording), ": ",
                                  verification.found.checked_blocks, " blocks");
  if (verification.segments > 0) {
    absl::StrAppend(&line, " in ", verification.segments, " segments");
    if (verification.gone_segments > 0) {
      absl::StrAppend(&line, " (", verification.gone_segments, " between them are gone)");
    }
  }
  absl::StrAppend(&line, ", none damaged");
  if (verification.missing_blocks > 0) {
    absl::StrAppend(&line, ", ", verification.missing_blocks, " missing when it was closed");
  }
  if (verification.open_segments > 0) {
    absl::StrAppend(&line, "; ", verification.open_segments, " more being written");
  }
  if (!verification.part.empty()) {
    absl::StrAppend(&line, "; that is ", verification.part,
                    ": name all nodes in --storage to check all");
  }
  return line;
}

// What is damaged of blocks and of the files beside them; OK: nothing.
absl::Status VerdictOf(const Verification& verification, uint32_t copies) {
  const VerifyProgress& found = verification.found;
  const auto of_files = static_cast<uint64_t>(std::ranges::count_if(
      found.damaged, [](const DamagedBlock& one) { return !model::IsOfBlock(one.kind); }));
  const uint64_t blocks = found.damaged.size() - verification.missing_blocks - of_files;
  if (blocks + of_files == 0) return absl::OkStatus();
  const std::string files = of_files == 1
                                ? "1 piece of its index and manifest is"
                                : absl::StrCat(of_files, " pieces of its index and manifest are");
  std::string text = absl::StrCat(verification.recording, ": ");
  if (blocks == 0) {
    absl::StrAppend(&text, "no block is damaged, but ", files,
                    "; tapectl scrub start repairs what it can");
  } else {
    absl::StrAppend(
        &text, blocks, " of ", found.blocks,
        copies > 1
            ? " blocks of both copies are damaged; tapectl repair restores each from the other"
            : " blocks are damaged; the rest plays");
    if (of_files > 0) absl::StrAppend(&text, "; ", files, " damaged, too");
  }
  if (verification.missing_blocks > 0) {
    absl::StrAppend(&text, "; ", verification.missing_blocks,
                    " more were missing when it was closed");
  }
  return BlockDamaged({.recording = verification.recording, .blocks = blocks}, text);
}

void PrintVerdict(const Program& program, const Verification& verification) {
  const Answer answer = AnswerOf(verification);
  const VerifyProgress& verified = verification.found;
  if (verified.damaged.empty()) {
    program.Print(answer, LineOf(verification));
    return;
  }
  std::vector<Row> rows;
  for (size_t i = 0; i < std::min(kMaxDamagedRows, verified.damaged.size()); ++i) {
    const DamagedBlock& block = verified.damaged[i];
    rows.push_back({model::IsOfBlock(block.kind) ? absl::StrCat(block.sequence) : "-",
                    std::string(model::NameOf(block.kind)), block.detail});
    if (!verification.places.empty()) rows.back().push_back(verification.places[i]);
  }
  Row heads = {"BLOCK", "KIND", "DETAIL"};
  if (!verification.places.empty()) heads.emplace_back("SEGMENT");
  std::vector<Table> tables{{heads, rows}};
  // A failure is a line of its own.
  if (verification.status.ok()) tables.push_back({{dataplane::Printable(LineOf(verification))}});
  program.Print(answer, tables);
}

// Each node's part; one that is not there is an error of the whole, once the others have been read.
// `*copies`: parts that have each block.
absl::Status VerifyParts(const Program& program, const std::string& name, Verification& result,
                         uint32_t* copies) {
  Verifier verifier(*program.Catalog(), program.job_timeout(), result);
  absl::Status first_error;
  std::vector<Recording> parts;
  for (const Program& node : EachNode(program)) {
    const auto part = node.Catalog()->GetRecording(name);
    absl::Status status = part.status();
    if (part.ok()) {
      parts.push_back(*part);
      status = verifier.VerifyPart(node, name);
    }
    if (!status.ok()) {
      first_error.Update(dataplane::Prefixed(absl::StrCat(node.storage, ": "), status));
    }
  }
  if (parts.empty()) return first_error;
  const JoinedParts joined = JoinParts(parts).front();
  *copies = joined.copies;
  if (joined.parts.size() == joined.of) return first_error;
  return RecordingNotFound(name, absl::StrCat(name, ": only ", joined.PartsText(), " are there"),
                           absl::StatusCode::kDataLoss);
}

absl::Status VerifyRecording(Program& program, const RecordingChoice& choice) {
  Verification result;
  bool places = true;
  uint32_t copies = 1;
  TD_ASSIGN_OR_RETURN(const std::string name, PlaceRecording(program, choice.name));
  if (NamesSeveral(program)) {
    result.recording = name;
    result.status = VerifyParts(program, result.recording, result, &copies);
  } else {
    const auto catalog = program.Catalog();
    TD_ASSIGN_OR_RETURN(const Stream stream,
                        StreamNamed(model::Use::kVerify, {name, choice.segment}, *catalog));
    result.recording = stream.name;
    result.gone_segments = stream.segments.back().segment - stream.segments.front().segment + 1 -
                           stream.segments.size();
    const auto& part = stream.segments.front().part;
    if (part.has_value()) result.part = model::NameOfPart(*part);
    result.status = Verifier(*catalog, program.job_timeout(), result).Verify(stream);
    places = stream.segmented;
  }
  if (!places) result.places.clear();
  result.missing_blocks = std::ranges::count_if(result.found.damaged, IsMissing);
  if (result.status.ok()) result.status = VerdictOf(result, copies);
  if (result.found.blocks == 0 && !result.status.ok()) return result.status;
  program.failure_printed = true;
  PrintVerdict(program, result);
  return result.status;
}

}  // namespace

void AddVerifyCommand(Command recordings, Program& program) {
  auto choice = std::make_shared<RecordingChoice>();
  const Command verify = recordings.AddCommand("verify", "Read and check every block");
  AddRecordingChoice(verify, *choice);
  SetRun<RecordingChoice>(verify, program, "recordings verify", choice, VerifyRecording);
}

}  // namespace tapedeck::services::tapectl
