#include "services/rpc/convert/values/counters.h"

#include "services/rpc/convert/values/message.h"

namespace tapedeck::services::convert {

v1::Counters ToProto(const dataplane::Counters& counters) {
  v1::Counters out;
  for (const auto& counter : dataplane::kCounters) {
    WireField(out, {.name = counter.name}).Write(counters.*counter.member);
  }
  return out;
}

dataplane::Counters FromProto(const v1::Counters& counters) {
  dataplane::Counters out;
  for (const auto& counter : dataplane::kCounters) {
    ConstWireField(counters, {.name = counter.name}).Read(out.*counter.member);
  }
  return out;
}

}  // namespace tapedeck::services::convert
