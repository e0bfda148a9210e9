#include "services/tapectl/files/read_options.h"

#include <cmath>
#include <string>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "dataplane/datatype.h"
#include "dataplane/status_macros.h"
#include "services/site/units.h"

namespace tapedeck::services::tapectl {
namespace {

absl::StatusOr<std::string> ParseDatatypeName(absl::string_view text) {
  TD_RETURN_IF_ERROR(dataplane::ParseDatatype(text).status());
  return std::string(text);
}

absl::StatusOr<uint32_t> ParseStream(absl::string_view text) {
  uint32_t number = 0;
  if (absl::SimpleAtoi(text, &number) || absl::SimpleHexAtoi(text, &number)) return number;
  return absl::InvalidArgumentError(
      absl::StrCat("\"", text, "\" is not a stream number: write for example 7 or 0x1f"));
}

absl::StatusOr<double> ParseHertz(absl::string_view text) {
  double hertz = 0;
  if (absl::SimpleAtod(text, &hertz) && std::isfinite(hertz)) return hertz;
  return absl::InvalidArgumentError(
      absl::StrCat("\"", text, "\" is not a frequency: write Hz, for example 433.92e6"));
}

absl::StatusOr<int64_t> ParseStart(absl::string_view text) {
  TD_ASSIGN_OR_RETURN(const int64_t ns, ParseTimeNs(text));
  // Times of the samples behind it do not overflow: until the year 2116.
  constexpr int64_t kFarthest = int64_t{1} << 62;
  if (ns > -kFarthest && ns < kFarthest) return ns;
  return absl::InvalidArgumentError(
      absl::StrCat("\"", text, "\" is outside the times that a recording can have"));
}

}  // namespace

void AddReadOptions(const Command& command, formats::ReadOptions& read) {
  command.AddParsed("--datatype", read.datatype, ParseDatatypeName,
                    "SigMF datatype of the samples, if the file has none");
  command.AddParsed("--sample-rate", read.sample_rate, ParseRate,
                    "Samples per second, e.g. 2.4e6; overrides the file's");
  command.AddParsed("--frequency", read.frequency_hz, ParseHertz,
                    "Centre frequency in Hz; overrides the file's");
  command.AddParsed("--start", read.start_ns, ParseStart,
                    "Time of the first sample, e.g. 2026-01-31T12:00:00Z; overrides the file's");
  command.AddParsed("--stream", read.stream, ParseStream,
                    "vita49-pcap: number of the stream; default the first with samples");
  command.AddOption("--dataset", read.dataset, "hdf5: path of the dataset, e.g. /rx/iq");
  command.AddOption("--member", read.member, "sigmf archive: name of the recording in it");
}

}  // namespace tapedeck::services::tapectl
