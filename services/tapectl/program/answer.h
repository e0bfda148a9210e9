// What the commands answer with --output json, one object in one line, and with jsonl, where each
// item of a list has its line. nlohmann's JSON is slow to compile, so that only answer.cc and
// json.cc see it.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "services/model/recording/stream.h"
#include "services/model/recording/treatment.h"
#include "services/model/seams/catalog.h"
#include "services/model/seams/jobs.h"
#include "services/model/seams/node.h"
#include "services/model/seams/recorder.h"
#include "services/model/seams/scrub.h"
#include "services/observe/explain/explanation.h"
#include "services/tapectl/program/load.h"
#include "services/tapectl/program/profiles.h"

namespace tapedeck::services::tapectl {

struct Answer {
  std::string json;
  // Of a list; none: the object is no list, and its own line.
  std::optional<std::vector<std::string>> items = std::nullopt;
};

Answer AnswerOf(const Lun& lun);
Answer AnswerOf(const Channel& channel);
Answer AnswerOf(const Recording& recording);
Answer AnswerOf(const Stream& stream);
// With `first_sample`, the session's number of its sample 0; null: nobody knows it.
Answer AnswerOf(const Recording& recording, std::optional<uint64_t> first_sample);
Answer AnswerOf(const Stream& stream, std::optional<uint64_t> first_sample);
Answer AnswerOf(const Job& job);
Answer AnswerOf(const Scrub& scrub);

// {"luns": [...]} and so on.
Answer AnswerOf(const std::vector<Lun>& luns);
Answer AnswerOf(const std::vector<Channel>& channels);
Answer AnswerOf(const std::vector<Recording>& recordings);
Answer AnswerOf(const std::vector<Stream>& recordings);
Answer AnswerOf(const std::vector<Job>& jobs);
Answer AnswerOf(const std::vector<Capture>& captures);

struct Verification {
  std::string recording;
  VerifyProgress found;             // all of it
  std::vector<std::string> places;  // of a stream the segment of each damaged block
  uint64_t segments = 0;            // of a stream, looked at
  uint64_t gone_segments = 0;       // between those there are
  uint64_t open_segments = 0;       // still written, and not looked at
  uint64_t missing_blocks = 0;
  std::string part;  // "part 1 of 2" of which the others were not looked at; none: it is whole
  absl::Status status;
};
Answer AnswerOf(const Verification& verification);

struct Explained {
  std::string name;  // of the recording or job
  dataplane::Direction direction = dataplane::Direction::kRecord;
  bool running = false;
  explain::Explanation explanation;
};
Answer AnswerOf(const Explained& explained);

// {time_ns, mb_per_s, lost_blocks, jobs: [{..., mb_per_s: now}], luns: [{..., mb_per_s,
// full_in_s}]}
Answer AnswerOf(const Load& load);

// {"profiles": [{name, default, options...}]}
Answer AnswerOf(const Profiles& profiles);

struct AskedNode {
  std::string address;
  absl::StatusOr<NodeInfo> info;
};
// With the first error.
Answer AnswerOf(const std::vector<AskedNode>& nodes);

// What `tapectl trace` has collected of a node.
struct TracedNode {
  std::string address;
  absl::Status status;
  std::string name;
  uint64_t stamps = 0;
  uint64_t missed = 0;
  bool clock_known = false;
  int64_t clock_offset_ns = 0;  // at its last stamp
  int64_t clock_uncertainty_ns = 0;
  double clock_drift_ppm = 0;
  double clock_drift_uncertainty_ppm = 0;
  std::vector<std::string> dumps;
};
struct Traced {
  std::string file;
  uint64_t bytes = 0;
  uint64_t stamps = 0;
  uint64_t left_out = 0;
  std::vector<std::string> sessions;
  std::vector<TracedNode> nodes;  // the first one's clock is the timeline's
};
Answer AnswerOf(const Traced& traced);

// What an export has made of a recording, or an import of a file.
struct FileAnswer {
  std::string recording;
  std::string file;
  std::string format;
  uint64_t bytes = 0;  // of the file; of an import, of its samples
  uint64_t samples = 0;
  uint64_t missing_samples = 0;  // of these
  uint64_t lost_samples = 0;     // of these; that an export leaves out
  bool leaves_out = false;       // the file has no zeros for them
  uint64_t resumed_at = 0;       // sample from which on an export went on
  double mb_per_s = 0;
  Notes notes;
};
Answer AnswerOf(const FileAnswer& answer);
// Of an export: "; missing 5 samples, which are zeros"; empty: it has all.
std::string MissingText(const FileAnswer& answer);
// {"collection": FILE, "streams": [...]}
Answer AnswerOf(const std::string& collection, const std::vector<FileAnswer>& streams);

// What a copy has made of a recording.
struct CopyAnswer {
  std::string recording;  // the copy
  std::string original;
  uint64_t blocks = 0;
  uint64_t bytes = 0;           // of the recording
  uint64_t missing_blocks = 0;  // of `blocks`
  uint64_t first_block = 0;     // that was moved now; of one that went on, not 0
  double mb_per_s = 0;
  bool moved = false;  // the original is deleted
};
Answer AnswerOf(const CopyAnswer& answer);

// What a repair has found of a recording's two parts, and done.
struct RepairAnswer {
  struct Part {
    std::string node;
    std::string found;            // "whole", "damaged" or "absent"
    uint64_t damaged_blocks = 0;  // whose bytes are wrong
    uint64_t lacking_blocks = 0;  // that the other part has, and this one has not
    std::string blocks;           // which ones, of the stream: "3-17, 25"
    bool repaired = false;
    std::string why_not;
  };
  std::string recording;
  uint64_t blocks = 0;
  uint64_t lost_blocks = 0;  // damaged, and whole in no part
  std::vector<Part> parts;
  absl::Status status;
};
Answer AnswerOf(const RepairAnswer& answer);

// A line of `tapectl kinds`.
struct TreatmentAnswer {
  std::string command;
  std::string kind;
  model::Treatment treatment;
};
// {"kinds": [{command, kind, takes, does, remedy}, ...]}
Answer AnswerOf(const std::vector<TreatmentAnswer>& kinds);

// {"deleted": "luns/l0"}
Answer AnswerOf(const std::string& done, const std::string& name);
// The same of one that was `asked` for; of several {"deleted": [NAME, ...]}. With the error after
// which the rest was left, if there is one.
Answer AnswerOf(const std::string& done, size_t asked, const std::vector<std::string>& names,
                const absl::Status& error);

// {"error": {...}}
Answer AnswerOf(const absl::Status& error);

}  // namespace tapedeck::services::tapectl
