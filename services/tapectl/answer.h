// What the commands answer with --output json: one object in one line. nlohmann's JSON is slow to
// compile, so that only answer.cc and json.cc see it.
#pragma once

#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "services/catalog.h"
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

struct AskedNode {
  std::string address;
  absl::StatusOr<NodeInfo> info;
};
// With the first error.
Answer AnswerOf(const std::vector<AskedNode>& nodes);

// {"deleted": "luns/l0"}
Answer AnswerOf(const std::string& done, const std::string& name);

// {"error": {...}}
Answer AnswerOf(const absl::Status& error);

// Each member's name and its value, as rows of a table.
std::vector<std::vector<std::string>> FieldsOf(const Recording& recording);
std::vector<std::vector<std::string>> FieldsOf(const Job& job);

}  // namespace tapedeck::services::tapectl
