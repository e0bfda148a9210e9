#include "services/rpc/convert/explain.h"

#include "services/rpc/convert/values/message.h"

namespace tapedeck::services::convert {

v1::Explanation ToProto(const explain::Explanation& explanation, bool running) {
  auto out = Written<v1::Explanation>(explanation);
  out.set_elapsed_seconds(explanation.elapsed_s);
  for (v1::StageShare& stage : *out.mutable_stages()) {
    if (stage.thread().empty()) stage.set_thread_share(stage.share());
  }
  out.set_text(explain::TextOf(explanation));
  out.set_running(running);
  return out;
}

}  // namespace tapedeck::services::convert
