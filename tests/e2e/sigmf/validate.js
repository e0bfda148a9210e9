// validate.js SCHEMA META...: holds each against SigMF's published schema; says what is wrong with those that do not fit.
const fs = require('fs');
const Ajv = require('ajv/dist/2020');
const formats = require('ajv-formats');

const read = (path) => JSON.parse(fs.readFileSync(path, 'utf8'));
const ajv = new Ajv({ strict: false, allErrors: true, unicodeRegExp: false });
formats(ajv);
const validate = ajv.compile(read(process.argv[2]));
let wrong = 0;
for (const path of process.argv.slice(3)) {
  if (validate(read(path))) continue;
  wrong += 1;
  console.log(`${path}: ${ajv.errorsText(validate.errors)}`);
}
process.exit(wrong === 0 ? 0 : 1);
