// A recording is looked at: its spectrum, its waterfall, its samples.
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { goTo, inShell, lineOf, tapectl, tapectlJson, until, WORK } from './browser.js';

export const fileOf = (name) => {
  const [, lun, , channel, , id] = name.split('/');
  return `${WORK}/member${lun === 'l0' ? '' : `-${lun}`}/${channel}/${id}/data.sigmf-data`;
};

// The brightest column of the waterfall, as a share of its width, and how many of its rows are grey all along.
export const pixels = (page) =>
  page.locator('.picture canvas').evaluate((canvas) => {
    const { width, height } = canvas;
    const { data } = canvas.getContext('2d').getImageData(0, 0, width, height);
    const sums = new Array(width).fill(0);
    let grey = 0;
    for (let y = 0; y < height; y += 1) {
      let greys = 0;
      for (let x = 0; x < width; x += 1) {
        const [r, g, b] = data.subarray((y * width + x) * 4);
        greys += r === g && g === b ? 1 : 0;
        sums[x] += r === g && g === b ? 0 : r + g;
      }
      grey += greys === width ? 1 : 0;
    }
    return { width, height, grey, brightest: sums.indexOf(Math.max(...sums)) };
  });

export async function seeTone(page, name) {
  await goTo(page, `recording/${name}`);
  const peak = page.locator('[data-peak]');
  await peak.waitFor();
  const bin = 1e6 / 512;
  assert.ok(Math.abs(Number(await peak.getAttribute('data-peak')) - 125000) <= bin, 'the spectrum has its peak at the tone');
  const seen = await until('the waterfall is painted', async () => ((await pixels(page)).height > 100 ? pixels(page) : undefined));
  assert.equal(seen.width, 513, 'half a column at both ends');
  assert.ok(Math.abs(seen.brightest - (0.5 + 0.125) * 512) <= 1, `the waterfall is brightest at ${seen.brightest}`);
  assert.equal(seen.grey, 0, 'nothing is missing');
}

// Where the tone is on the screen: the topmost pixel of the spectrum's lines and the brightest one of the waterfall, from the left.
async function toneOnScreen(page, box) {
  const png = (await page.screenshot({ clip: box })).toString('base64');
  const blank = await page.context().newPage();
  const at = await blank.evaluate(async (data) => {
    const image = await createImageBitmap(await (await fetch(`data:image/png;base64,${data}`)).blob());
    const canvas = Object.assign(document.createElement('canvas'), { width: image.width, height: image.height });
    const context = canvas.getContext('2d');
    context.drawImage(image, 0, 0);
    // Of colours that a line or a signal has, and neither ground nor grid.
    const strength = (x, y) => {
      const [r, g, b] = context.getImageData(x, y, 1, 1).data;
      return r - b;
    };
    const columns = [];
    for (let y = 0; y < image.height && columns.length === 0; y += 1) {
      for (let x = 0; x < image.width; x += 1) if (strength(x, y) > 90) columns.push(x);
    }
    return columns.length === 0 ? undefined : (columns[0] + columns.at(-1)) / 2;
  }, png);
  await blank.close();
  return at;
}

// Spectrum, waterfall and their axes begin and end at the same pixels, and a tone is at the same place in both.
export async function seeOneAxis(page) {
  for (const width of [1440, 1024, 777, 390]) {
    await page.setViewportSize({ width, height: 900 });
    await page.waitForTimeout(300);
    const box = (selector) => page.locator(selector).first().boundingBox();
    const [spectrum, waterfall] = [await box('[aria-label="Spectrum"] .u-over'), await box('.picture')];
    const edges = ({ x, width: wide }) => [x, x + wide];
    assert.deepEqual(edges(spectrum), edges(waterfall), `spectrum and waterfall at ${width}`);
    for (const name of ['spectrum', 'waterfall']) assert.deepEqual(edges(await box(`[data-axis="${name}"]`)), edges(waterfall), `axis of the ${name} at ${width}`);
    const texts = await page.locator('[data-axis="waterfall"] text').allTextContents();
    assert.deepEqual([texts[0], texts.at(-1)], ['−500 kHz', '500 kHz']);
    assert.deepEqual(await page.locator('[data-axis="spectrum"] text').allTextContents(), texts);
    await page.locator('.picture').scrollIntoViewIfNeeded();
    await page.evaluate(() => scrollBy(0, document.querySelector('[aria-label="Spectrum"]').getBoundingClientRect().top - 20));
    const tones = [await toneOnScreen(page, await box('[aria-label="Spectrum"] .u-over')), await toneOnScreen(page, await box('.picture'))];
    console.log(`at ${width}: ${edges(waterfall)}, the tone at ${tones}`);
    assert.ok(Math.abs(tones[0] - tones[1]) <= 1.5, `the tone is at ${tones} at ${width}`);
  }
  await page.setViewportSize({ width: 1280, height: 900 });
}

// Which colour is which power: the scale has the colours of the waterfall, and the powers between which they lie.
export async function seeScale(page) {
  const texts = await page.locator('[data-axis="colours"] text').allTextContents();
  assert.match(texts[0], /^−\d+ dBFS$/);
  assert.match(texts.at(-1), /^−?\d+ dBFS$/);
  await page.getByLabel('Darkest').fill('-60');
  assert.equal(await page.locator('[data-axis="colours"] text').first().textContent(), '−60 dBFS');
  await page.getByLabel('Darkest').fill('');
  const [scale, picture] = await page.locator('.scale canvas, .picture canvas').evaluateAll((canvases) =>
    canvases.map((canvas) => {
      const { data } = canvas.getContext('2d').getImageData(0, 0, canvas.width, 1);
      return Array.from({ length: canvas.width }, (_, x) => data.slice(x * 4, x * 4 + 3).join());
    }),
  ).then(([first, second]) => (first.length === 256 ? [first, second] : [second, first]));
  assert.ok(picture.every((colour) => scale.includes(colour)), 'every colour is one of the scale');
}

// The same tone, recorded as spectra: they are drawn, and not transformed once more.
export async function seeSpectra(page) {
  tapectl('record', 'l0/c0', '--source', 'synth:tones=0.125,noise=0.001', '--fft', '1024', '--blocks', '40');
  const { name } = tapectlJson('recordings', 'show', 'l0/c0/latest');
  await seeTone(page, name);
  await page.getByText('recorded spectra of 1024 bins').waitFor();
  tapectl('recordings', 'delete', name);
}

export async function zoomInFrequency(page) {
  const shown = page.locator('[data-shown]');
  for (let step = 0; step < 2; step += 1) await page.getByRole('button', { name: 'Zoom in, in frequency' }).click();
  await until('there are more columns', async () => (await shown.textContent()).includes('2048 frequencies'));
  await page.getByRole('button', { name: 'Higher frequencies' }).click();
  const picture = page.locator('.picture');
  await picture.focus();
  await page.keyboard.press('ArrowRight');
  assert.match(await page.locator('.cursor').textContent(), /kHz · sample .* dBFS$/, 'keys move the cursor');
  await page.getByRole('button', { name: 'All', exact: true }).click();
  await until('all frequencies are shown', async () => (await shown.textContent()).includes('512 frequencies'));
}

// A quarter of each is dragged over, and fills the picture.
export async function zoomByPointer(page) {
  const shown = page.locator('[data-shown]');
  const [, all] = (await shown.getAttribute('data-shown')).split(' ').map(Number);
  const picture = page.locator('.picture');
  await picture.scrollIntoViewIfNeeded();
  const { x, y, width, height } = await picture.boundingBox();
  await page.mouse.move(x + width / 2, y + height / 4);
  await page.mouse.down();
  await page.mouse.move(x + (width * 3) / 4, y + height / 2, { steps: 4 });
  await page.mouse.up();
  const [first, count] = await until('a part is shown', async () => {
    const now = (await shown.getAttribute('data-shown')).split(' ').map(Number);
    return now[1] < all / 2 ? now : undefined;
  });
  assert.ok(Math.abs(first / all - 0.25) < 0.02 && Math.abs(count / all - 0.25) < 0.02, `${first} and ${count} of ${all}`);
  await page.getByRole('button', { name: 'All', exact: true }).click();
  await until('all is shown', async () => (await shown.getAttribute('data-shown')) === `0 ${all}`);
}

const SHOWN = 32;

// Down to samples, which are those of the file.
export async function zoomToSamples(page, name) {
  const first = 123456;
  await page.getByLabel('Show from sample').fill(String(first));
  await page.getByLabel('Number of samples').fill(String(SHOWN));
  await page.getByRole('button', { name: 'Show', exact: true }).click();
  const row = page.locator(`tr[data-sample="${first}"]`);
  await row.waitFor({ state: 'attached' });
  await page.getByText(`First ${SHOWN} samples as numbers`).click();
  const bytes = readFileSync(fileOf(name));
  for (let sample = first; sample < first + SHOWN; sample += 1) {
    const cells = await page.locator(`tr[data-sample="${sample}"] td`).allTextContents();
    const values = [0, 4].map((part) => bytes.readFloatLE(sample * 8 + part));
    assert.deepEqual(cells.slice(1).map(Number), values.map((value) => Number(value.toPrecision(7))), `sample ${sample}`);
  }
  await page.getByRole('button', { name: 'All', exact: true }).click();
}

// What the node's flight recorder holds of it, and what the node says of its rate.
export async function readReports(page) {
  await page.getByText('tapectl explain').waitFor();
  await page.getByRole('region', { name: 'Limiting stage' }).locator('[data-explained] p').first().waitFor();
  const [file] = await Promise.all([page.waitForEvent('download'), page.getByRole('button', { name: 'Download as JSON' }).click()]);
  const [trace] = JSON.parse(readFileSync(await file.path(), 'utf8'));
  assert.ok(trace.trails.length > 0 && trace.threads.length > 0, 'the trace has stamps');
}

// As a file, byte for byte; and what the line says gives the same.
export async function download(page, name) {
  await page.getByRole('button', { name: /^Download l0/ }).click();
  const dialog = page.getByRole('dialog');
  await dialog.getByLabel('First sample').fill('12345');
  await dialog.getByLabel('Number of samples').fill('70000');
  const [file] = await Promise.all([page.waitForEvent('download'), dialog.getByRole('button', { name: 'Download' }).click()]);
  const got = readFileSync(await file.path());
  assert.ok(got.equals(readFileSync(fileOf(name)).subarray(12345 * 8, (12345 + 70000) * 8)), 'the file has the samples');
  await dialog.getByLabel('Number of samples').fill('1e99');
  assert.ok(await dialog.getByRole('button', { name: 'Download' }).isDisabled());
  await dialog.getByRole('button', { name: 'Close' }).first().click();
  await dialog.waitFor({ state: 'detached' });
}

// As a SigMF archive, which is a recording again: its samples, its time, its frequency and its marks.
export async function downloadSigmf(page, name) {
  await goTo(page, `recording/${name}`);
  await page.getByRole('button', { name: /^Download l0/ }).click();
  const dialog = page.getByRole('dialog');
  await dialog.getByLabel('Format').selectOption('sigmf');
  await dialog.getByLabel('First sample').fill('4000');
  await dialog.getByLabel('Number of samples').fill('70000');
  const [file] = await Promise.all([page.waitForEvent('download'), dialog.getByRole('button', { name: 'Download' }).click()]);
  assert.match(file.suggestedFilename(), /-4000\.sigmf$/);
  await file.saveAs(`${WORK}/page.sigmf`);
  inShell(`${await lineOf(dialog)} && mv *-4000.sigmf line.sigmf`);
  tapectl('channel', 'create', 'l0/back', '--sample-rate', '1e6', '--block-bytes', '64KiB');
  // What the page has made and what the line has made are the same recording.
  const [ofPage, ofLine] = ['page', 'line'].map((which) => {
    tapectl('recordings', 'import', 'l0/back', `${WORK}/${which}.sigmf`, '--format', 'sigmf');
    const made = tapectlJson('recordings', 'show', 'l0/back/latest');
    return { start: made.start_time, marks: made.annotations.map((mark) => [mark.sample_start, mark.sample_count, mark.label, mark.comment]), samples: readFileSync(fileOf(made.name)) };
  });
  assert.deepEqual(ofPage, ofLine);
  assert.ok(ofPage.samples.equals(readFileSync(fileOf(name)).subarray(4000 * 8, 74000 * 8)), 'the archive has the samples');
  // Places of marks count the stream's samples.
  assert.deepEqual(ofPage.marks, [[4096, 100, '<b>burst</b>', '<script>alert(1)</script>']]);
  await dialog.getByRole('button', { name: 'Close' }).first().click();
  await dialog.waitFor({ state: 'detached' });
}

export async function annotate(page, name) {
  await page.getByRole('button', { name: /^Annotate l0/ }).click();
  const dialog = page.getByRole('dialog');
  await dialog.getByLabel('First sample', { exact: true }).fill('4096');
  await dialog.getByLabel('Samples', { exact: true }).fill('100');
  await dialog.getByLabel('Label').fill('<b>burst</b>');
  await dialog.getByLabel('Comment').fill('<script>alert(1)</script>');
  await dialog.getByRole('button', { name: 'Annotate' }).click();
  await dialog.waitFor({ state: 'detached' });
  const marks = page.getByRole('region', { name: 'Annotations', exact: true }).first();
  await marks.getByText('<b>burst</b>').waitFor();
  await marks.getByText('<script>alert(1)</script>').waitFor();
  assert.equal(await page.locator('main b, main script').count(), 0, 'markup in a mark is text');
  assert.match(tapectl('--output', 'json', 'recordings', 'show', name), /<b>burst<\/b>/);
}

export async function keep(page) {
  const button = page.getByRole('button', { name: /^Keep l0/ });
  await button.click();
  await until('it is kept', async () => (await button.getAttribute('aria-pressed')) === 'true');
  await button.click();
  await until('it is let go', async () => (await button.getAttribute('aria-pressed')) === 'false');
}
