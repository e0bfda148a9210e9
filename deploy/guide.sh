#!/usr/bin/env bash
# Builds the guide as a site into build/guide, with Debian's mkdocs-material: no page of it asks another machine for anything.
#   deploy/guide.sh [DIR]      into DIR instead: a new or empty folder, or one that has a site of this script
# Open DIR/index.html, or serve it: python3 -m http.server -d DIR
set -euo pipefail
# shellcheck source=deploy/setup.sh
source "$(dirname "${BASH_SOURCE[0]}")/setup.sh"

GUIDE=$TAPEDECK_ROOT/deploy/guide
SITE=${1:-$TAPEDECK_ROOT/build/guide}
MARK=.tapedeck-guide # in a site: its files, one a line

# refuse_others: no site goes into a folder with files of somebody else.
refuse_others() {
  local files=
  [[ -e $SITE || -L $SITE ]] || return 0
  if [[ -d $SITE ]]; then
    [[ ! -f $SITE/$MARK ]] || return 0
    files=$(ls -A -- "$SITE") && [[ -z $files ]] && return 0
  fi
  echo "guide: $SITE is there and has no site of this script ($MARK); name a new or empty folder, or remove it" >&2
  return 1
}

# publish DIR: the site in DIR takes the place of the one in SITE. Other files of SITE stay. The mark comes first: a copy that
# breaks off is made again.
publish() {
  local file
  (cd "$1" && find . -type f) >"$WORK/$MARK"
  mkdir -p -- "$SITE"
  if [[ -f $SITE/$MARK ]]; then
    while IFS= read -r file; do [[ $file == *..* ]] || rm -f -- "$SITE/$file"; done <"$SITE/$MARK"
  fi
  cp --remove-destination -- "$WORK/$MARK" "$SITE/"
  cp -r --remove-destination -- "$1/." "$SITE/"
}

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

if [[ $# -gt 1 || ${1:-} == -* ]]; then
  sed -n '2,4s/^# //p' "${BASH_SOURCE[0]}"
  exit 2
fi
refuse_others
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
PYTHONWARNINGS=ignore mkdocs build --strict --config-file "$WORK/mkdocs.yml" --site-dir "$WORK/site" 2> >(grep -v '^INFO' >&2)
if grep -rhoE '<(script|img|link|source)[^>]*(src|href|srcset)="?https?://[^" ]*' "$WORK/site" --include='*.html' | grep -v canonical; then
  echo "guide: the site asks other machines for these" >&2
  exit 1
fi
publish "$WORK/site"
echo "$SITE/index.html"
