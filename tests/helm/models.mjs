// Rendered objects as the models of Kubernetes and its neighbours have them: each must be valid, and known in every field.
//   models.mjs DIRECTORY FILE...     FILE holds JSON lines; DIRECTORY gets a program of them for tsc, which knows the fields
import { readFileSync, writeFileSync } from "node:fs";
import { basename } from "node:path";

const PACKAGES = { "cert-manager.io": "@kubernetes-models/cert-manager", "monitoring.coreos.com": "@kubernetes-models/prometheus-operator" };

// Of apps/v1 and StatefulSet: "kubernetes-models/apps/v1/StatefulSet".
function moduleOf(object) {
  const group = object.apiVersion.includes("/") ? object.apiVersion.split("/")[0] : "";
  const root = PACKAGES[group] ?? "kubernetes-models";
  return `${root}/${object.apiVersion}/${object.kind}`;
}

const [directory, ...files] = process.argv.slice(2);
const imports = new Set();
const literals = [];
let wrong = 0;
for (const file of files) {
  for (const line of readFileSync(file, "utf8").split("\n").filter(Boolean)) {
    const object = JSON.parse(line);
    const name = `${basename(file, ".jsonl")}: ${object.kind} ${object.metadata.name}`;
    try {
      const model = (await import(moduleOf(object)))[object.kind];
      new model(object).validate();
    } catch (error) {
      console.error(`${name}: ${error.message}`);
      wrong++;
    }
    imports.add(`import type { I${object.kind} } from ${JSON.stringify(moduleOf(object))};`);
    literals.push(`// ${name}\nexport const o${literals.length}: I${object.kind} = ${line};`);
  }
}
writeFileSync(`${directory}/objects.ts`, [...imports, ...literals].join("\n") + "\n");
console.log(`${literals.length} objects of ${files.length} sets`);
process.exit(wrong ? 1 : 0);
