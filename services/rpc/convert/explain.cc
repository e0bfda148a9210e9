#include "services/rpc/convert/explain.h"

namespace tapedeck::services::convert {
namespace {

v1::StageShare ShareToProto(const explain::StageShare& share) {
  v1::StageShare out;
  out.set_name(share.name);
  out.set_share(share.share);
  out.set_seconds(share.seconds);
  out.set_thread(share.thread);
  out.set_thread_share(share.thread_share);
  return out;
}

}  // namespace

v1::Explanation ToProto(const explain::Explanation& explanation, bool running) {
  v1::Explanation out;
  out.set_limited_by(explanation.limited_by);
  out.set_elapsed_seconds(explanation.elapsed_s);
  for (const auto& stage : explanation.stages) *out.add_stages() = ShareToProto(stage);
  for (const auto& rail : explanation.rails) *out.add_rails() = ShareToProto(rail);
  out.set_advice(explanation.advice);
  out.set_text(explain::TextOf(explanation));
  out.set_running(running);
  return out;
}

}  // namespace tapedeck::services::convert
