#include "services/base/trace/span.h"

#include "services/base/trace/tracer.h"

namespace tapedeck::services::telemetry::trace {
namespace {

// Of what a list has beside its texts.
constexpr size_t kEachBytes = 64;

void Cut(std::string& text) {
  if (text.size() > kMaxTextBytes) text.resize(kMaxTextBytes);
}

void Cut(Attribute& attribute) {
  if (auto* text = std::get_if<std::string>(&attribute.value)) Cut(*text);
}

size_t BytesOf(const std::vector<Attribute>& attributes) {
  size_t bytes = 0;
  for (const Attribute& attribute : attributes) {
    const auto* text = std::get_if<std::string>(&attribute.value);
    bytes += kEachBytes + attribute.key.size() + (text == nullptr ? 0 : text->size());
  }
  return bytes;
}

}  // namespace

size_t SpanData::Bytes() const {
  size_t bytes = sizeof(SpanData) + name.size() + context.state.size() + status.message().size() +
                 BytesOf(attributes);
  for (const SpanEvent& event : events) {
    bytes += kEachBytes + event.name.size() + BytesOf(event.attributes);
  }
  return bytes;
}

// Without a tracer a span passes on what is above.
Span Branch::Start(absl::string_view name, SpanKind kind) const {
  if (tracer == nullptr) return {nullptr, above, nullptr, 0};
  return tracer->Start(above, name, kind, 0);
}

Span Branch::StartedBefore(int64_t ago_ns, absl::string_view name) const {
  if (tracer == nullptr) return {nullptr, above, nullptr, 0};
  return tracer->Start(above, name, SpanKind::kInternal, ago_ns);
}

Span& Span::operator=(Span&& other) noexcept {
  if (this == &other) return *this;
  Drop();
  tracer_ = other.tracer_;
  context_ = std::move(other.context_);
  data_ = std::move(other.data_);
  began_ns_ = other.began_ns_;
  return *this;
}

int64_t Span::Now() const { return data_->start_ns + (tracer_->NowNs() - began_ns_); }

void Span::Set(absl::string_view key, Value value) {
  if (data_ == nullptr) return;
  if (data_->attributes.size() >= kMaxAttributes) {
    ++data_->dropped_attributes;
    return;
  }
  data_->attributes.push_back({std::string(key), std::move(value)});
  Cut(data_->attributes.back());
}

void Span::AddEvent(absl::string_view name, std::vector<Attribute> attributes) {
  if (data_ == nullptr) return;
  if (data_->events.size() >= kMaxEvents) {
    ++data_->dropped_events;
    return;
  }
  for (Attribute& attribute : attributes) Cut(attribute);
  data_->events.push_back({Now(), std::string(name), std::move(attributes)});
}

void Span::End(const absl::Status& status) {
  if (data_ == nullptr) return;
  data_->end_ns = Now();
  data_->status = absl::Status(status.code(), status.message().substr(0, kMaxTextBytes));
  tracer_->Finish(std::move(data_));
}

void Span::Drop() {
  if (data_ != nullptr) End(absl::AbortedError("its work was dropped before it had ended"));
}

}  // namespace tapedeck::services::telemetry::trace
