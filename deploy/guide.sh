#!/usr/bin/env bash
# Builds the guide as a site into build/guide, with Debian's mkdocs-material: no page of it asks another machine for anything.
#   deploy/guide.sh [DIR]      into DIR instead
# Open DIR/index.html, or serve it: python3 -m http.server -d DIR
set -euo pipefail
# shellcheck source=deploy/setup.sh
source "$(dirname "${BASH_SOURCE[0]}")/setup.sh"

GUIDE=$TAPEDECK_ROOT/deploy/guide
SITE=${1:-$TAPEDECK_ROOT/build/guide}

# nav: the pages in the order of the index.
nav() {
  echo "  - Guide: index.md"
  sed -n 's/^| \[\(.*\)\](\([a-z-]*\.md\)) |.*/  - "\1": \2/p' "$GUIDE/README.md"
}

# pages DIR: as mkdocs takes them: the index under its name, files of the repository by their paths, no remarks for the tests.
pages() {
  local page name
  for page in "$GUIDE"/*.md; do
    name=$(basename "$page")
    [[ $name != README.md ]] || name=index.md
    # shellcheck disable=SC2016
    perl -0pe 's/^<!-- guide: .*\n//mg; s#\]\(README\.md#](index.md#g;
      s#\[([^]]*)\]\(\.\./\.\./([^)]*)\)#$1 (`$2`)#g; s#\[([^]]*)\]\(\.\./([^)]*)\)#$1 (`deploy/$2`)#g' "$page" >"$1/$name"
  done
  mkdir "$1/pictures"
  cp "$GUIDE"/pictures/*.{svg,png} "$1/pictures"
}

tapedeck_install mkdocs-material
WORK=$(mktemp -d -t guide.XXXXXX)
trap 'rm -rf "$WORK"' EXIT
mkdir "$WORK/pages"
pages "$WORK/pages"
cat >"$WORK/mkdocs.yml" <<CONFIG
site_name: Tapedeck
docs_dir: pages
use_directory_urls: false
theme:
  name: material
  font: false
  palette:
    - {media: "(prefers-color-scheme: light)", scheme: default, toggle: {icon: material/weather-night, name: Dark}}
    - {media: "(prefers-color-scheme: dark)", scheme: slate, primary: cyan, toggle: {icon: material/weather-sunny, name: Light}}
plugins: [search]
markdown_extensions: [tables, fenced_code, toc]
nav:
$(nav)
CONFIG
PYTHONWARNINGS=ignore mkdocs build --strict --config-file "$WORK/mkdocs.yml" --site-dir "$SITE" 2> >(grep -v '^INFO' >&2)
if grep -rhoE '<(script|img|link|source)[^>]*(src|href|srcset)="?https?://[^" ]*' "$SITE" --include='*.html' | grep -v canonical; then
  echo "guide: the site asks other machines for these" >&2
  exit 1
fi
echo "$SITE/index.html"
