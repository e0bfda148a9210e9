#include "services/rpc/convert/values/stage.h"

#include <variant>

#include "absl/strings/str_cat.h"
#include "dataplane/status_macros.h"
#include "services/rpc/convert/values/fields.h"

namespace tapedeck::services::convert {
namespace {

struct ParameterWriter {
  v1::Parameter& out;

  void operator()(int64_t value) const { out.set_integer(value); }
  void operator()(uint64_t value) const { out.set_unsigned_integer(value); }
  void operator()(double value) const { out.set_number(value); }
  void operator()(const std::string& value) const { out.set_text(value); }
  void operator()(bool value) const { out.set_flag(value); }
  void operator()(const std::vector<double>& values) const {
    out.mutable_numbers()->mutable_values()->Assign(values.begin(), values.end());
  }
};

absl::StatusOr<ParameterValue> FromProto(const std::string& name, const v1::Parameter& parameter) {
  switch (parameter.value_case()) {
    case v1::Parameter::kInteger:
      return parameter.integer();
    case v1::Parameter::kUnsignedInteger:
      return parameter.unsigned_integer();
    case v1::Parameter::kNumber:
      return parameter.number();
    case v1::Parameter::kText:
      return parameter.text();
    case v1::Parameter::kFlag:
      return parameter.flag();
    case v1::Parameter::kNumbers:
      return std::vector<double>(parameter.numbers().values().begin(),
                                 parameter.numbers().values().end());
    case v1::Parameter::VALUE_NOT_SET:
      break;
  }
  return FieldError(name, "has no value, or one of a kind that is not known");
}

}  // namespace

v1::Stage ToProto(const StageSpec& spec) {
  v1::Stage out;
  out.set_name(spec.name);
  for (const auto& [name, value] : spec.parameters) {
    std::visit(ParameterWriter{(*out.mutable_parameters())[name]}, value);
  }
  return out;
}

absl::StatusOr<StageSpec> FromProto(const v1::Stage& stage) {
  StageSpec out{.name = stage.name()};
  for (const auto& [name, parameter] : stage.parameters()) {
    TD_ASSIGN_OR_RETURN(out.parameters[name], FromProto(name, parameter));
  }
  return out;
}

void WriteField(const StageSpec& stage, const WireField& to) { to.Set().CopyFrom(ToProto(stage)); }

void WriteField(const std::vector<StageSpec>& stages, const WireField& to) {
  for (const StageSpec& stage : stages) to.Add().CopyFrom(ToProto(stage));
}

absl::Status ReadField(const ConstWireField& from, StageSpec& stage) {
  TD_ASSIGN_OR_RETURN(stage, FromProto(static_cast<const v1::Stage&>(from.Get())));
  return absl::OkStatus();
}

absl::Status ReadField(const ConstWireField& from, std::vector<StageSpec>& stages) {
  stages.clear();
  for (int i = 0; i < from.size(); ++i) {
    TD_ASSIGN_OR_RETURN(stages.emplace_back(),
                        FromProto(static_cast<const v1::Stage&>(from.At(i))));
  }
  return absl::OkStatus();
}

}  // namespace tapedeck::services::convert
