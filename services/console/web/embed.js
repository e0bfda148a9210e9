// embed.js FOLDER OUTPUT: writes the files of a built page as the C++ of services/console/assets.h.
import { readdirSync, readFileSync, renameSync, writeFileSync } from 'node:fs';
import { extname, join } from 'node:path';

const TYPES = {
  '.css': 'text/css; charset=utf-8',
  '.html': 'text/html; charset=utf-8',
  '.js': 'text/javascript; charset=utf-8',
  '.svg': 'image/svg+xml',
};

// Three octal digits end by themselves, whatever follows.
function literal(bytes) {
  const lines = [];
  let line = '';
  for (const byte of bytes) {
    const plain = byte >= 32 && byte < 127 && byte !== 34 && byte !== 92 && byte !== 63;
    line += plain ? String.fromCharCode(byte) : `\\${byte.toString(8).padStart(3, '0')}`;
    if (line.length >= 4000) {
      lines.push(`"${line}"`);
      line = '';
    }
  }
  lines.push(`"${line}"`);
  return lines.join('\n');
}

function asset(folder, file) {
  const type = TYPES[extname(file)];
  if (type === undefined) throw new Error(`embed.js: no content type is known for ${file}`);
  const bytes = readFileSync(join(folder, file));
  const path = file === 'index.html' ? '/' : `/${file}`;
  return `    {.path = "${path}", .content_type = "${type}", .bytes = absl::string_view(\n${literal(bytes)}, ${bytes.length})},\n`;
}

const [folder, output] = process.argv.slice(2);
const files = readdirSync(folder, { recursive: true, withFileTypes: true })
  .filter((entry) => entry.isFile())
  .map((entry) => join(entry.parentPath, entry.name).slice(folder.length + 1))
  .sort();
const text = `#include "services/console/assets.h"

namespace tapedeck::services::console {
namespace {

constexpr Asset kAssets[] = {
${files.map((file) => asset(folder, file)).join('')}};

}  // namespace

absl::Span<const Asset> Assets() { return kAssets; }

}  // namespace tapedeck::services::console
`;
writeFileSync(`${output}.part`, text);
renameSync(`${output}.part`, output);
