import assert from 'node:assert/strict';
import { test } from 'node:test';
import { asBytes, channelFields, channelOf, changed, lunFields, lunOf, lunOptions, maskOf } from '../../../../services/console/web/src/luns/fields.ts';

const rateOf = (text: string) => channelOf('l0', { ...channelFields(), sample_rate: text })['sample_rate'];
const lunWith = (change: object) => lunOf({ ...lunFields(), ...change });

test('a rate is as tapectl takes it', () => {
  assert.deepEqual(['', '0', '2.4M', '1e9', '48k', '48K', '1G', '2.5e-1'].map(rateOf), [0, 0, 2.4e6, 1e9, 48e3, 48e3, 1e9, 0.25]);
});

test('what is no rate is refused with its field', () => {
  for (const text of ['fast', '2.4 M', '1m', '-1', 'NaN', 'Infinity', '1e999', '0x10', '2.4MHz']) {
    assert.throws(() => rateOf(text), /^Error: Sample rate must be a number, for example 2\.4M/, text);
  }
});

test('a percentage may have its sign', () => {
  assert.deepEqual(['', '0', '80', '80%', ' 80 % ', '100'].map((maxFill) => lunWith({ maxFill }).max_fill_percent), [0, 0, 80, 80, 80, 100]);
  for (const maxFill of ['much', '0.8', '101', '-1', '1e1', '80%%']) assert.throws(() => lunWith({ maxFill }), /^Error: The fill limit must be a whole percentage/, maxFill);
  assert.equal(lunOptions({ ...lunFields(), maxFill: '80%' })['max-fill'], '80');
});

test('a count is whole, in thousands too', () => {
  assert.deepEqual(['', '0', '4', '1k'].map((prewriteFiles) => lunWith({ prewriteFiles }).prewrite_files), [0, 0, 4, 1000]);
  for (const prewriteFiles of ['some', '1.5', '-1', '1e3', '9999999G']) assert.throws(() => lunWith({ prewriteFiles }), /^Error: The number of prewritten files must be a whole/, prewriteFiles);
  assert.equal(lunOptions({ ...lunFields(), prewriteFiles: '1k' })['prewrite-files'], '1000');
});

test('sizes have the units of tapectl, in their letters', () => {
  const sizes = ['4096', '512B', '64K', '64KiB', '1M', '10G', '2T', '1.5GiB', '1kB', '200MB', '2GB', '3TB'];
  assert.deepEqual(sizes.map((text) => asBytes('It', text)), [4096, 512, 65536, 65536, 2 ** 20, 10 * 2 ** 30, 2 * 2 ** 40, 1.5 * 2 ** 30, 1000, 200e6, 2e9, 3e12]);
  for (const text of ['2mb', '2m', '1kib', '1KB', '1k', '1PiB', '0.5', '1.2.3', '.', 'MiB', '-1', '1 GiB', '8388608T', 'constructor']) {
    assert.throws(() => asBytes('It', text), /^Error: It must be a size/, text);
  }
});

const lunLabels = (labels: Record<string, string>) => ({ ...lunFields(), labels: lunFields({ name: 'luns/l0', labels } as Parameters<typeof lunFields>[0]).labels });

test('labels come back as they are, whatever they hold', () => {
  const labels = { site: 'roof, mast=2', 'a=b, c': ' x ', quote: '"x"', inch: '5" mast', path: 'C:\\new', none: '', two: 'a\nb', eq: '=', Capital: '1', __proto: 'ä' };
  assert.deepEqual(lunOf(lunLabels(labels)).labels, labels);
  assert.equal(lunLabels({ site: 'roof, mast=2', rack: '7' }).labels, 'rack=7, site="roof, mast=2"');
  for (const [name, value] of Object.entries(labels)) assert.deepEqual(lunOf(lunLabels({ [name]: value })).labels, { [name]: value });
});

test('a label is added beside one with a comma, which stays', () => {
  const before = lunLabels({ site: 'roof, mast=2' });
  const after = { ...before, labels: `${before.labels}, rack=7` };
  assert.deepEqual(lunOf(after).labels, { site: 'roof, mast=2', rack: '7' });
  assert.deepEqual(changed(lunOptions(before), lunOptions(after)), { label: ['rack=7'] });
  assert.equal(maskOf(before, after, { labels: 'labels' }), 'labels.rack');
});

test('a mask names the labels that differ, and all of them where it cannot', () => {
  const maskTo = (labels: string) => maskOf({ labels: 'a=1, b=2, C=3' }, { labels }, { labels: 'labels' });
  assert.equal(maskTo('a=1, b=4, C=3, d_e=5'), 'labels.b,labels.d_e');
  assert.equal(maskTo('b=2, C=3'), 'labels.a');
  assert.equal(maskTo('C=3,  b=2, a=1'), '');
  assert.equal(maskTo('a=1, b=2, C=4'), 'labels');
});

test('labels that say something else are refused', () => {
  for (const labels of ['=x', '""=x', 'site', 'a=1, roof', 'a="x" y', 'a="x', 'a="\\q"', '"a=1']) {
    assert.throws(() => lunWith({ labels }), /^Error: The labels must have the form site=north/, labels);
  }
});
