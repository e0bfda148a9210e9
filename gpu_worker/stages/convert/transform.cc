#include "gpu_worker/stages/convert/transform.h"

#include "absl/strings/str_cat.h"
#include "dataplane/datatype.h"
#include "dataplane/status_macros.h"
#include "gpu_worker/stages/convert/list.h"
#include "gpu_worker/stages/parameters.h"

namespace tapedeck::gpu_worker::stages::convert {

using dataplane::ParseDatatype;

absl::StatusOr<Parameters> Parse(const services::StageParameters& given) {
  Parameters out;
  ParameterReader reader(kName, given);
  const auto read = [&](absl::string_view name, std::string& value) {
    reader.Text(name, value);
    reader.Require(ParseDatatype(value).ok(), name, "a SigMF datatype, e.g. ci16_le");
  };
  read("from", out.from);
  read("to", out.to);
  reader.Require(out.from != out.to, "to",
                 absl::StrCat("another datatype than from, which is ", out.from));
  TD_RETURN_IF_ERROR(reader.Finish());
  return out;
}

Description Describe(const Parameters& parameters) {
  return {.parameters = {{"from", parameters.from}, {"to", parameters.to}},
          .takes = parameters.from,
          .gives = parameters.to,
          .in_place = false};
}

absl::StatusOr<std::unique_ptr<Transform>> CreateTransform(const Parameters& parameters,
                                                           const TransformPlace& place) {
  TD_ASSIGN_OR_RETURN(const auto from, ParseDatatype(parameters.from));
  TD_ASSIGN_OR_RETURN(const auto to, ParseDatatype(parameters.to));
  return Create(from, to, *place.device, *place.queue);
}

}  // namespace tapedeck::gpu_worker::stages::convert
