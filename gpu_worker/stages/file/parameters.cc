#include "gpu_worker/stages/parameters.h"

#include "dataplane/status_macros.h"
#include "gpu_worker/stages/file/file.h"

namespace tapedeck::gpu_worker::stages::file {
namespace {

constexpr size_t kMaxPathBytes = 4096;  // PATH_MAX

// Of a source or a sink: a path and one thing more.
absl::Status Read(const services::StageParameters& given, std::string& path,
                  absl::string_view flag_name, bool& flag) {
  ParameterReader reader("file", given);
  reader.Text("path", path);
  const bool good =
      !path.empty() && path.size() <= kMaxPathBytes && path.find('\0') == std::string::npos;
  reader.Require(good, "path", "a path on the worker's machine, of at most 4096 bytes");
  reader.Flag(flag_name, flag);
  return reader.Finish();
}

}  // namespace

absl::StatusOr<SourceParameters> ParseSource(const services::StageParameters& given) {
  SourceParameters out;
  TD_RETURN_IF_ERROR(Read(given, out.path, "loop", out.loop));
  return out;
}

Description DescribeSource(const SourceParameters& parameters) {
  return {.parameters = {{"path", parameters.path}}, .ends = !parameters.loop};
}

absl::StatusOr<SinkParameters> ParseSink(const services::StageParameters& given) {
  SinkParameters out;
  TD_RETURN_IF_ERROR(Read(given, out.path, "replace", out.replace));
  return out;
}

Description DescribeSink(const SinkParameters& /*parameters*/) { return {}; }

}  // namespace tapedeck::gpu_worker::stages::file
