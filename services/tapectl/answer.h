// What the commands answer with --output json: one object in one line. nlohmann's JSON is slow to
// compile, so that only answer.cc and json.cc see it.
#pragma once

#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "services/catalog.h"
#include "services/explain/explanation.h"
#include "services/jobs.h"
#include "services/node.h"
#include "services/recorder.h"
#include "services/scrub.h"

namespace tapedeck::services::tapectl {

struct Answer {
  std::string json;
};

Answer AnswerOf(const Lun& lun);
Answer AnswerOf(const Channel& channel);
Answer AnswerOf(const Recording& recording);
Answer AnswerOf(const Job& job);
Answer AnswerOf(const Scrub& scrub);

// {"luns": [...]} and so on.
Answer AnswerOf(const std::vector<Lun>& luns);
Answer AnswerOf(const std::vector<Channel>& channels);
Answer AnswerOf(const std::vector<Recording>& recordings);
Answer AnswerOf(const std::vector<Job>& jobs);
Answer AnswerOf(const std::vector<Capture>& captures);

struct Verification {
  std::string recording;
  VerifyProgress found;  // all of it
  uint64_t missing_blocks = 0;
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

// {"deleted": "luns/l0"}
Answer AnswerOf(const std::string& done, const std::string& name);

// {"error": {...}}
Answer AnswerOf(const absl::Status& error);

// Each member's name and its value, as rows of a table.
std::vector<std::vector<std::string>> FieldsOf(const Recording& recording);
std::vector<std::vector<std::string>> FieldsOf(const Job& job);

}  // namespace tapedeck::services::tapectl
