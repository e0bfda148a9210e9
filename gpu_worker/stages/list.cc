#include "gpu_worker/stages/list.h"

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "dataplane/printable.h"
#include "gpu_worker/stages/convert/transform.h"
#include "gpu_worker/stages/detect/transform.h"
#include "gpu_worker/stages/fft/fft.h"
#include "gpu_worker/stages/fft/transform.h"
#include "gpu_worker/stages/file/file.h"
#include "gpu_worker/stages/ingest/source.h"
#include "gpu_worker/stages/null/sink.h"
#include "gpu_worker/stages/power/transform.h"
#include "gpu_worker/stages/synth/source.h"
#include "gpu_worker/stages/udp/sink.h"
#include "gpu_worker/stages/verify/sink.h"
#include "services/base/command_line/nearest.h"
#include "services/base/errors.h"

namespace tapedeck::gpu_worker::stages {
namespace {

std::vector<SourceKind> Sources() {
  return {
      {"file", file::ParseSource, file::DescribeSource, file::CreateSource},
      {"ingest", ingest::Parse, ingest::Describe, ingest::Create},
      {"synth", synth::Parse, synth::Describe, synth::Create},
  };
}

std::vector<TransformKind> Transforms() {
  return {
      {"convert", convert::Parse, convert::Describe, convert::CreateTransform},
      {"detect", detect::Parse, detect::Describe, detect::CreateTransform},
      {"fft", fft::Parse, fft::Describe, fft::CreateTransform},
      {"power", power::Parse, power::Describe, power::CreateTransform},
  };
}

std::vector<SinkKind> Sinks() {
  return {
      {"file", file::ParseSink, file::DescribeSink, file::CreateSink},
      {"null", null::Parse, null::Describe, null::Create},
      {"udp", udp::Parse, udp::Describe, udp::Create},
      {"verify", verify::Parse, verify::Describe, verify::Create},
  };
}

absl::Status NoSuchStage(absl::string_view role, const std::string& name,
                         const std::vector<std::string>& names) {
  const std::vector<std::string> nearest = services::command_line::Nearest(name, names);
  return services::ArgumentInvalid(
      role,
      absl::StrCat("no ", role, " \"", dataplane::Printable(name), "\"; ",
                   nearest.empty() ? absl::StrCat("this worker has ", absl::StrJoin(names, ", "))
                                   : services::command_line::DidYouMean(nearest)));
}

template <typename Place, typename Made>
absl::StatusOr<Chosen<Place, Made>> Choose(absl::string_view role,
                                           const std::vector<Kind<Place, Made>>& kinds,
                                           const services::StageSpec& spec) {
  std::vector<std::string> names;
  for (const auto& kind : kinds) {
    if (kind.name() == spec.name) return kind.Choose(spec.parameters);
    names.push_back(kind.name());
  }
  return NoSuchStage(role, spec.name, names);
}

}  // namespace

absl::StatusOr<ChosenSource> ChooseSource(const services::StageSpec& spec) {
  return Choose("source", Sources(), spec);
}

absl::StatusOr<ChosenTransform> ChooseTransform(const services::StageSpec& spec) {
  return Choose("transform", Transforms(), spec);
}

absl::StatusOr<ChosenSink> ChooseSink(const services::StageSpec& spec) {
  return Choose("sink", Sinks(), spec);
}

std::vector<std::string> Names() {
  std::vector<std::string> names;
  const auto add = [&](absl::string_view role, const auto& kinds) {
    for (const auto& kind : kinds) names.push_back(absl::StrCat(role, " ", kind.name()));
  };
  add("source", Sources());
  add("transform", Transforms());
  add("sink", Sinks());
  return names;
}

std::string LibraryFor(const device::Device& device) { return fft::LibraryFor(device); }

}  // namespace tapedeck::gpu_worker::stages
