#include "services/base/config/document.h"

#include <yaml-cpp/eventhandler.h>
#include <yaml-cpp/exceptions.h>
#include <yaml-cpp/mark.h>
#include <yaml-cpp/parser.h>

#include <algorithm>
#include <set>
#include <sstream>
#include <utility>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "dataplane/printable.h"
#include "dataplane/status_macros.h"
#include "services/base/config/fault.h"

namespace tapedeck::services::config {
namespace {

// yaml-cpp's begin at 0.
int LineOf(const YAML::Mark& mark) { return mark.line + 1; }

// Where the first character stands that is neither printable nor a line end or tab; none: npos.
size_t FirstUnprintable(absl::string_view text) {
  size_t at = 0;
  while (at < text.size()) {
    const char c = text[at];
    const bool space = c == '\n' || c == '\r' || c == '\t';
    const size_t bytes = space ? 1 : dataplane::PrintableBytes(text.substr(at));
    if (bytes == 0) return at;
    at += bytes;
  }
  return absl::string_view::npos;
}

// Makes the tree. yaml-cpp goes on after a fault, which the first one stands for.
class Builder : public YAML::EventHandler {
 public:
  explicit Builder(absl::string_view file) : file_(file) {}

  absl::StatusOr<Element> Take() {
    TD_RETURN_IF_ERROR(fault_);
    return std::move(root_);
  }

  void OnDocumentStart(const YAML::Mark&) override {}
  void OnDocumentEnd() override {}

  void OnNull(const YAML::Mark& mark, YAML::anchor_t anchor) override {
    Refuse(anchor != 0, mark, kNoAnchors);
    // Of a file with nothing in it.
    if (open_.empty()) return;
    const bool key = open_.back().element.kind == Element::Kind::kMap && !open_.back().has_key;
    Refuse(true, mark, key ? "a key is missing" : NoValue());
  }

  void OnAlias(const YAML::Mark& mark, YAML::anchor_t) override { Refuse(true, mark, kNoAnchors); }

  void OnScalar(const YAML::Mark& mark, const std::string& tag, YAML::anchor_t anchor,
                const std::string& text) override {
    Refuse(anchor != 0, mark, kNoAnchors);
    // yaml-cpp's words for plain and for quoted.
    Refuse(tag != "?" && tag != "!", mark, kNoTags);
    Refuse(FirstUnprintable(text) != absl::string_view::npos, mark,
           "a text with a control character");
    Add({.line = LineOf(mark), .text = text, .quoted = tag == "!"});
  }

  void OnSequenceStart(const YAML::Mark& mark, const std::string& tag, YAML::anchor_t anchor,
                       YAML::EmitterStyle::value) override {
    Open(Element::Kind::kList, mark, tag, anchor);
  }
  void OnSequenceEnd() override { Close(); }

  void OnMapStart(const YAML::Mark& mark, const std::string& tag, YAML::anchor_t anchor,
                  YAML::EmitterStyle::value) override {
    Open(Element::Kind::kMap, mark, tag, anchor);
  }
  void OnMapEnd() override { Close(); }

 private:
  static constexpr absl::string_view kNoAnchors = "anchors and aliases are not supported";
  static constexpr absl::string_view kNoTags = "tags (!name) are not supported";

  // A list or map that has not ended.
  struct Opened {
    Element element;
    bool has_key = false;  // of a map: the next value's
    std::string key = {};
    int key_line = 0;
    std::set<std::string> keys = {};
  };

  std::string NoValue() const {
    return open_.back().has_key ? absl::StrCat(Quoted(open_.back().key), " has no value")
                                : "an entry of the list has no value";
  }

  void Refuse(bool refused, const YAML::Mark& mark, absl::string_view why) {
    if (refused && fault_.ok()) fault_ = Fault({file_, LineOf(mark)}, why);
  }

  void Open(Element::Kind kind, const YAML::Mark& mark, const std::string& tag,
            YAML::anchor_t anchor) {
    Refuse(anchor != 0, mark, kNoAnchors);
    Refuse(tag != "?" && !tag.empty(), mark, kNoTags);
    Refuse(open_.size() >= kMaxDepth, mark,
           absl::StrCat("more than ", kMaxDepth, " lists and maps in each other"));
    const bool key =
        !open_.empty() && open_.back().element.kind == Element::Kind::kMap && !open_.back().has_key;
    Refuse(key, mark, "a list or map as a key");
    if (fault_.ok()) open_.push_back({.element = {.kind = kind, .line = LineOf(mark)}});
  }

  void Close() {
    if (!fault_.ok()) return;
    Element element = std::move(open_.back().element);
    open_.pop_back();
    Add(std::move(element));
  }

  void Add(Element element) {
    if (fault_.ok() && ++elements_ > kMaxElements) {
      fault_ = Fault({file_, element.line}, absl::StrCat("more than ", kMaxElements, " values"));
    }
    if (!fault_.ok()) return;
    if (open_.empty()) {
      root_ = std::move(element);
      return;
    }
    Opened& in = open_.back();
    if (in.element.kind == Element::Kind::kMap && !in.has_key) return SetKey(in, element);
    element.key = std::exchange(in.key, "");
    element.key_line = in.key_line;
    in.has_key = false;
    in.element.items.push_back(std::move(element));
  }

  void SetKey(Opened& in, const Element& key) {
    if (!in.keys.insert(key.text).second) {
      fault_ =
          Fault({file_, key.line}, absl::StrCat("the key ", Quoted(key.text), " appears twice"));
    }
    in.has_key = true;
    in.key = key.text;
    in.key_line = key.line;
  }

  const absl::string_view file_;
  absl::Status fault_;
  size_t elements_ = 0;
  std::vector<Opened> open_;
  Element root_{.kind = Element::Kind::kMap, .line = 1};
};

absl::Status CheckCharacters(absl::string_view file, absl::string_view text) {
  if (text.size() > kMaxTextBytes) {
    return Fault({file}, absl::StrCat("has more than ", kMaxTextBytes, " bytes"));
  }
  const size_t bad = FirstUnprintable(text);
  if (bad == absl::string_view::npos) return absl::OkStatus();
  const auto lines = std::count(text.begin(), text.begin() + static_cast<ptrdiff_t>(bad), '\n');
  return Fault({file, static_cast<int>(lines) + 1}, "a control character, or what is not UTF-8");
}

}  // namespace

absl::StatusOr<Element> ParseDocument(absl::string_view file, absl::string_view text) {
  TD_RETURN_IF_ERROR(CheckCharacters(file, text));
  Builder builder(file);
  try {
    std::istringstream stream{std::string(text)};
    YAML::Parser parser(stream);
    parser.HandleNextDocument(builder);
    Builder second(file);
    if (parser.HandleNextDocument(second)) {
      TD_RETURN_IF_ERROR(builder.Take().status());
      return Fault({file}, "has more than one document");
    }
  } catch (const YAML::Exception& error) {
    return Fault({file, LineOf(error.mark)}, Quoted(error.msg));
  }
  return builder.Take();
}

}  // namespace tapedeck::services::config
