#include "services/console/assets.h"

namespace tapedeck::services::console {
namespace {

constexpr Asset kAssets[] = {
    {.path = "/",
     .content_type = "text/html; charset=utf-8",
     .bytes = "<!doctype html><html lang=\"en\"><head><title>Tapedeck</title>"
              "<meta name=\"viewport\" content=\"width=device-width\"></head><body>"
              "<h1>Tapedeck</h1><p>This build of the storage node has no page. Its build found no "
              "npm, or npm could not get its packages, or TAPEDECK_PAGE was off.</p>"
              "<p>To get the page, run these commands in the source tree:</p>"
              "<pre>sudo apt-get install npm\n"
              "cmake -B build -DTAPEDECK_PAGE=ON\n"
              "cmake --build build --target tapedeck-storage</pre>"
              "<p>Then restart the storage node. The build needs a network once. If the page is "
              "still missing, its output says why: look for \"built without its page\".</p>"
              "<p>The calls below /api/ work without the page, and so does "
              "<code>tapectl</code>.</p></body></html>\n"}};

}  // namespace

absl::Span<const Asset> Assets() { return kAssets; }

}  // namespace tapedeck::services::console
