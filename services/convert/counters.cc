#include "services/convert/counters.h"

#include <string>

namespace tapedeck::services::convert {
namespace {

// Each counter has a field of its name and type; the round trips of tests/services see to it.
const google::protobuf::FieldDescriptor* FieldOf(const dataplane::CounterInfo& counter) {
  return v1::Counters::descriptor()->FindFieldByName(std::string(counter.name));
}

}  // namespace

v1::Counters ToProto(const dataplane::Counters& counters) {
  v1::Counters out;
  for (const auto& counter : dataplane::kCounters) {
    out.GetReflection()->SetUInt64(&out, FieldOf(counter), counters.*counter.member);
  }
  return out;
}

dataplane::Counters FromProto(const v1::Counters& counters) {
  dataplane::Counters out;
  for (const auto& counter : dataplane::kCounters) {
    out.*counter.member = counters.GetReflection()->GetUInt64(counters, FieldOf(counter));
  }
  return out;
}

}  // namespace tapedeck::services::convert
