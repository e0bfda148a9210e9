#include "services/daemon/admin/admin.h"

#include <utility>

#include "absl/strings/str_cat.h"
#include "dataplane/clock.h"
#include "dataplane/log.h"
#include "dataplane/status_macros.h"
#include "services/daemon/admin/http_limits.h"

namespace tapedeck::services::admin {
namespace {

constexpr char kPlainText[] = "text/plain; charset=utf-8";
constexpr char kPrometheusText[] = "text/plain; version=0.0.4; charset=utf-8";

constexpr unsigned kOk = 200;
constexpr unsigned kNotFound = 404;
constexpr unsigned kUnavailable = 503;

HttpAnswer Words(unsigned status, std::string words) {
  return {.status = status,
          .content_type = kPlainText,
          .body = std::make_shared<const std::string>(std::move(words))};
}

}  // namespace

absl::StatusOr<std::unique_ptr<Admin>> Admin::Create(const std::string& listen) {
  std::unique_ptr<Admin> admin(new Admin());
  if (listen.empty()) return admin;
  TD_ASSIGN_OR_RETURN(admin->http_,
                      StartHttpServer(listen, [own = admin.get()](absl::string_view path) {
                        return own->Get(path);
                      }));
  dataplane::Log(dataplane::LogLevel::kInfo, "admin", "port open: nothing identifies its callers",
                 {{"listen", listen}, {"port", absl::StrCat(admin->port())}});
  return admin;
}

void Admin::Serve(Node node) {
  {
    absl::MutexLock lock(&mutex_);
    node_ = std::move(node);
  }
  state_ = State::kServing;
}

Admin::Node Admin::node() {
  absl::MutexLock lock(&mutex_);
  return node_;
}

HttpAnswer Admin::Get(absl::string_view path) {
  if (path == "/healthz") return Words(kOk, "ok\n");
  if (path == "/readyz") return Ready();
  if (path == "/metrics") return Metrics();
  return Words(kNotFound, "there are /healthz, /readyz and /metrics\n");
}

HttpAnswer Admin::Ready() {
  const State state = state_;
  if (state == State::kStarting) return Words(kUnavailable, "starting\n");
  if (state == State::kDraining) return Words(kUnavailable, "draining\n");
  const Node asked = node();
  const absl::Status health = asked.health ? asked.health() : absl::OkStatus();
  const absl::Status remark = asked.remark ? asked.remark() : absl::OkStatus();
  if (health.ok() && !remark.ok())
    return Words(kOk, absl::StrCat("ok, but ", remark.message(), "\n"));
  if (health.ok()) return Words(kOk, "ok\n");
  return Words(kUnavailable, absl::StrCat(health.message(), "\n"));
}

HttpAnswer Admin::Metrics() {
  const int64_t now_ns = dataplane::SystemClock().NowNs();
  if (page_ == nullptr || now_ns - page_ns_ >= kPageLifeNs) {
    const Node asked = node();
    if (!asked.metrics) return Words(kUnavailable, "starting\n");
    page_ = std::make_shared<const std::string>(asked.metrics());
    page_ns_ = now_ns;
  }
  return {.status = kOk, .content_type = kPrometheusText, .body = page_};
}

}  // namespace tapedeck::services::admin
