#include "services/model/recording/origin.h"

#include "absl/algorithm/container.h"
#include "absl/strings/ascii.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "dataplane/datatype.h"
#include "services/model/words/description.h"

namespace tapedeck::services::model {
namespace {

// With the words of JSON around them.
constexpr size_t kBytesBeside = 16;

std::string StageProblem(const OriginStage& stage) {
  if (stage.name.size() > kMaxOriginTextBytes) return "has a stage with a long name";
  if (stage.parameters.size() > kMaxOriginParameters) {
    return absl::StrCat("has a stage with more than ", kMaxOriginParameters, " parameters");
  }
  for (const auto& [name, value] : stage.parameters) {
    if (name.empty() || name.size() > kMaxOriginTextBytes ||
        absl::c_any_of(name, [](unsigned char c) { return absl::ascii_iscntrl(c); })) {
      return "has a stage with a bad name of a parameter";
    }
    if (value.size() > kMaxOriginValueBytes) {
      return absl::StrCat("has a parameter longer than ", kMaxOriginValueBytes, " bytes");
    }
  }
  return "";
}

size_t BytesOfStage(const OriginStage& stage, bool written) {
  size_t bytes = 2 * kBytesBeside + (written ? WrittenBytes(stage.name) : stage.name.size());
  for (const auto& [name, value] : stage.parameters) {
    bytes += kBytesBeside +
             (written ? WrittenBytes(name) + WrittenBytes(value) : name.size() + value.size());
  }
  return bytes;
}

// As they are, or as JSON writes them.
size_t BytesOf(const Origin& origin, bool written) {
  size_t bytes = BytesOfStage(origin.source, written);
  for (const OriginStage& one : origin.transforms) bytes += BytesOfStage(one, written);
  for (const std::string* text :
       {&origin.datatype, &origin.device, &origin.worker, &origin.version, &origin.beside,
        &origin.original_cause, &origin.move_draft, &origin.repairs, &origin.metadata}) {
    bytes += kBytesBeside + (written ? WrittenBytes(*text) : text->size());
  }
  return bytes;
}

std::string TextOf(const OriginStage& stage) {
  if (stage.parameters.empty()) return stage.name;
  return absl::StrCat(stage.name, "(",
                      absl::StrJoin(stage.parameters, ", ", absl::PairFormatter("=")), ")");
}

}  // namespace

std::string OriginProblem(const Origin& origin) {
  if (origin.transforms.size() > kMaxOriginTransforms) {
    return absl::StrCat("has more than ", kMaxOriginTransforms, " transforms");
  }
  std::string problem = StageProblem(origin.source);
  for (const OriginStage& one : origin.transforms) {
    if (!problem.empty()) return problem;
    problem = one.name.empty() ? "has a transform without a name" : StageProblem(one);
  }
  if (!problem.empty()) return problem;
  for (const std::string* text : {&origin.device, &origin.worker, &origin.version, &origin.beside,
                                  &origin.move_draft, &origin.repairs}) {
    if (text->size() > kMaxOriginTextBytes) {
      return absl::StrCat("has a text longer than ", kMaxOriginTextBytes, " bytes");
    }
  }
  if (!origin.datatype.empty() && !dataplane::ParseDatatype(origin.datatype).ok()) {
    return "has a datatype that is not a SigMF type";
  }
  if (origin.original_cause.size() > kMaxOriginValueBytes) {
    return absl::StrCat("has a cause longer than ", kMaxOriginValueBytes, " bytes");
  }
  if (origin.metadata.size() > kMaxOriginMetadataBytes) {
    return absl::StrCat("has metadata longer than ", kMaxOriginMetadataBytes, " bytes");
  }
  return BytesOf(origin, /*written=*/false) > kMaxOriginBytes
             ? absl::StrCat("is longer than ", kMaxOriginBytes, " bytes")
             : "";
}

size_t WrittenBytes(const Origin& origin) { return BytesOf(origin, /*written=*/true); }

std::string OriginText(const Origin& origin) {
  const bool known = !origin.source.name.empty();
  std::string text = known ? TextOf(origin.source) : "unknown source";
  for (const OriginStage& one : origin.transforms) absl::StrAppend(&text, " -> ", TextOf(one));
  if (!origin.device.empty()) absl::StrAppend(&text, ", on ", origin.device);
  if (!origin.worker.empty()) absl::StrAppend(&text, ", by ", origin.worker);
  if (!origin.version.empty()) absl::StrAppend(&text, " ", origin.version);
  return text;
}

}  // namespace tapedeck::services::model
