#include "services/console/assets.h"

namespace tapedeck::services::console {
namespace {

constexpr Asset kAssets[] = {
    {.path = "/",
     .content_type = "text/html; charset=utf-8",
     .bytes = "<!doctype html><html "
              "lang=\"en\"><head><title>Tapedeck</title></head><body><h1>Tapedeck</h1><p>This "
              "build was made without npm, so it has no page. The calls beneath /api/ work. To get "
              "the page, install npm and build again.</p></body></html>\n"}};

}  // namespace

absl::Span<const Asset> Assets() { return kAssets; }

}  // namespace tapedeck::services::console
