// SPDX-License-Identifier: Apache-2.0
// Opens reports in Chromium, as a reader would: every figure is drawn, nothing is cut, no error, no request to anywhere.
//   node report.mjs KELVIN OUT     KELVIN: the program; OUT: a directory for the runs, reports and screenshots
import { execFileSync } from "node:child_process";
import { accessSync, constants, mkdirSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import { delimiter, join, resolve } from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";
import { chromium } from "playwright-core";
import { zoo } from "./zoo.mjs";

const [kelvin, out] = process.argv.slice(2).map((path) => resolve(path));
const examples = fileURLToPath(new URL("../../examples", import.meta.url));

function executable(names) {
  for (const name of names)
    for (const folder of (process.env.PATH ?? "").split(delimiter))
      try {
        accessSync(join(folder, name), constants.X_OK);
        return join(folder, name);
      } catch {
        // not here
      }
  throw new Error(`none of ${names.join(", ")} is installed; install the Debian package chromium`);
}

const failures = [];
function check(holds, what) {
  if (!holds) failures.push(what);
}

// CRC-32C of a text, going on from that of another.
function crc32c(text, before) {
  let sum = ~before;
  for (const byte of Buffer.from(text)) {
    sum ^= byte;
    for (let bit = 0; bit < 8; ++bit) sum = sum & 1 ? (sum >>> 1) ^ 0x82f63b78 : sum >>> 1;
  }
  return ~sum >>> 0;
}

// A finding as a run keeps it: ending with its checksum, which begins with the run's own.
function keep(run, finding) {
  const owner = JSON.parse(readFileSync(join(run, "manifest.json"), "utf8")).run;
  const text = JSON.stringify(finding, null, 2).slice(0, -2);
  const sum = crc32c(text, owner).toString(16).padStart(8, "0");
  mkdirSync(join(run, "analysis"), { recursive: true });
  writeFileSync(join(run, "analysis", `${finding.name}.json`), `${text},\n  "checksum": "${sum}"\n}\n`);
}

function make_reports() {
  rmSync(out, { recursive: true, force: true });
  mkdirSync(out, { recursive: true });
  const run = (...words) => execFileSync(kelvin, words, { cwd: out, stdio: ["ignore", "pipe", "pipe"] });
  run("sample", join(examples, "spiral.toml"), "-o", "spiral", "--set", "steps=4000", "--set", "warmup=1000");
  run(
    "sample",
    join(examples, "gap.toml"),
    "-o",
    "gap",
    "--set",
    "steps=20000",
    "--set",
    "warmup=2000",
    "--set",
    "every=50",
  );
  keep(join(out, "spiral"), zoo());
  run("report", "spiral", "-o", "one.html");
  run("report", "spiral", "gap", "-o", "two.html");
  return ["one.html", "two.html"].map((name) => join(out, name));
}

// Everything that must hold of a page as it stands.
async function inspect(page, where) {
  const found = await page.evaluate(() => ({
    announced: Number(document.body.dataset.drawn),
    figures: [...document.querySelectorAll("figure")].map((figure) => {
      const picture = figure.querySelector("svg");
      const box = picture?.getBoundingClientRect();
      const marks = picture ? picture.querySelectorAll(".line, .dots, .bar, .level, image, .faces path").length : 0;
      const broken = picture ? /NaN|undefined|Infinity/.test(picture.outerHTML) : true;
      const outside = [...(picture?.querySelectorAll("text") ?? [])]
        .filter((text) => {
          const t = text.getBoundingClientRect();
          return (
            t.width > 0 &&
            (t.left < box.left - 2 || t.right > box.right + 2 || t.top < box.top - 3 || t.bottom > box.bottom + 3)
          );
        })
        .map((text) => text.textContent);
      return { id: figure.id, width: box?.width ?? 0, height: box?.height ?? 0, marks, broken, outside };
    }),
    overflow: document.documentElement.scrollWidth - document.documentElement.clientWidth,
    sections: document.querySelectorAll("section").length,
    paper: getComputedStyle(document.body).backgroundColor,
  }));
  check(
    found.figures.length > 3 && found.announced === found.figures.length,
    `${where}: ${found.announced} of ${found.figures.length} figures are drawn`,
  );
  for (const f of found.figures) {
    check(f.width > 150 && f.height > 150, `${where}: ${f.id} is ${f.width} x ${f.height}`);
    check(f.marks > 0, `${where}: ${f.id} shows nothing`);
    check(!f.broken, `${where}: ${f.id} has numbers that are none`);
    check(f.outside.length === 0, `${where}: ${f.id} cuts off ${JSON.stringify(f.outside)}`);
  }
  check(found.overflow <= 0, `${where}: the page is ${found.overflow} pixels too wide`);
  return found;
}

const files = make_reports();
const browser = await chromium.launch({
  executablePath: executable(["chromium", "chromium-browser", "google-chrome"]),
  args: process.getuid?.() === 0 ? ["--no-sandbox"] : [],
});
for (const file of files) {
  const name = file.replace(/.*\/|\.html$/g, "");
  check(statSync(file).size < 2.5e6, `${name}: ${statSync(file).size} bytes`);
  check(
    !/(src|href)\s*=\s*["']?\s*(https?:)?\/\//i.test(readFileSync(file, "utf8")),
    `${name}: refers to another place`,
  );
  for (const width of [1400, 400])
    for (const scheme of ["light", "dark"]) {
      const where = `${name}, ${width} pixels, ${scheme}`;
      const context = await browser.newContext({ viewport: { width, height: 900 }, colorScheme: scheme });
      const page = await context.newPage();
      const address = pathToFileURL(file).href;
      page.on("console", (message) =>
        check(!["error", "warning"].includes(message.type()), `${where}: ${message.text()}`),
      );
      page.on("pageerror", (error) => check(false, `${where}: ${error}`));
      page.on("request", (request) =>
        check(
          request.url() === address || /^(data|blob):/.test(request.url()),
          `${where}: asked for ${request.url().slice(0, 80)}`,
        ),
      );
      page.on("dialog", (dialog) => check(false, `${where}: a dialog says ${dialog.message()}`));
      await page.goto(address);
      const found = await inspect(page, where);
      check((found.paper === "rgb(20, 23, 26)") === (scheme === "dark"), `${where}: the paper is ${found.paper}`);
      await page.screenshot({ path: join(out, `${name}_${width}_${scheme}.png`), fullPage: true });
      if (width === 1400 && scheme === "light") {
        // A wider pointer's tour: the legend hides, dragging zooms, a double click returns, headings sort.
        const key = page.locator("figure .key[aria-pressed]").first();
        const lines = () =>
          page
            .locator("figure")
            .filter({ has: page.locator(".key[aria-pressed]") })
            .first()
            .locator("g[clip-path] > .curve")
            .count();
        const before = await lines();
        await key.click();
        check((await lines()) === before - 1, `${where}: the legend hides no curve`);
        await key.click();
        const plot = page.locator("figure .plot").first();
        await plot.scrollIntoViewIfNeeded();
        const ticks = () => plot.locator("text.tick").allTextContents();
        const [full, box] = [await ticks(), await plot.boundingBox()];
        await page.mouse.move(box.x + 0.4 * box.width, box.y + 0.3 * box.height);
        check(await plot.locator(".tip").isVisible(), `${where}: nothing is said about what is under the pointer`);
        await page.mouse.down();
        await page.mouse.move(box.x + 0.6 * box.width, box.y + 0.6 * box.height);
        await page.mouse.up();
        check(String(await ticks()) !== String(full), `${where}: dragging does not zoom`);
        await plot.locator("svg").dblclick();
        check(String(await ticks()) === String(full), `${where}: a double click does not return`);
        await page.locator(".theme").click();
        await page.locator(".theme").click();
        check(
          (await page.evaluate(() => getComputedStyle(document.body).backgroundColor)) === "rgb(20, 23, 26)",
          `${where}: the switch does not darken the page`,
        );
        const pdf = await page.pdf({ format: "A4", path: join(out, `${name}.pdf`) });
        check(pdf.length > 20000, `${where}: printed to ${pdf.length} bytes`);
        await page.emulateMedia({ media: "print" });
        check(
          (await page.evaluate(() => getComputedStyle(document.body).backgroundColor)) === "rgb(255, 255, 255)",
          `${where}: prints on dark paper`,
        );
      }
      await context.close();
    }
}
await browser.close();
for (const failure of failures) console.error(failure);
console.log(
  failures.length ? `${failures.length} failures` : `${files.length} reports look right; screenshots are in ${out}`,
);
process.exit(failures.length ? 1 : 0);
