// SPDX-License-Identifier: Apache-2.0
// The page: it shows findings, whatever they are, and knows none of them by name.
import { html } from "./axes";
import { type Drawn, figure_element } from "./figure";
import type { Figure, Finding, Report, Run } from "./report";
import { table_element } from "./table";

const drawn: Drawn[] = [];

function section(finding: Finding, id: string, level: "h2" | "h3"): HTMLElement {
  const [first, ...rest] = finding.words;
  const out = html("section", { id }, html(level, {}, finding.title));
  if (first) out.append(html("p", { class: "lead" }, first));
  if (rest.length) out.append(html("ul", { class: "words" }, ...rest.map((text) => html("li", {}, text))));
  if (finding.figures.length) {
    const figures = finding.figures.map((figure) => figure_element(figure));
    drawn.push(...figures);
    out.append(
      html(
        "div",
        { class: finding.figures.length === 1 ? "figures one" : "figures" },
        ...figures.map((f) => f.element),
      ),
    );
  }
  out.append(...finding.tables.map(table_element));
  for (const { title, text, settings } of finding.folds ?? [])
    out.append(
      html(
        "details",
        {},
        html("summary", {}, title),
        html("pre", {}, text ?? as_lines(settings, "").join("\n").trim()),
      ),
    );
  return out;
}

// Settings as lines of a run file: a table of values for each level.
function as_lines(value: unknown, path: string): string[] {
  if (value === null || typeof value !== "object" || Array.isArray(value)) return [];
  const entries = Object.entries(value as Record<string, unknown>);
  const nested = ([, v]: [string, unknown]) =>
    v !== null && typeof v === "object" && !Array.isArray(v) && !("name" in v);
  const simple = entries.filter((entry) => !nested(entry));
  const lines = simple.length && path ? ["", `[${path}]`] : [];
  const text = (v: unknown): string =>
    v !== null && typeof v === "object" && !Array.isArray(v)
      ? `{ ${Object.entries(v)
          .map(([k, x]) => `${k} = ${text(x)}`)
          .join(", ")} }`
      : (JSON.stringify(v) ?? "");
  lines.push(...simple.filter(([, v]) => v !== null).map(([name, v]) => `${name} = ${text(v)}`));
  return [...lines, ...entries.filter(nested).flatMap(([name, v]) => as_lines(v, path ? `${path}.${name}` : name))];
}

interface Entry {
  id: string;
  title: string;
  inner: boolean;
}

function run_element(run: Run, index: number, alone: boolean, contents: Entry[]): HTMLElement {
  const out = html("article", { id: `run${index}` });
  if (!alone) {
    out.append(html("h2", { class: "run" }, run.name), html("p", { class: "lead" }, run.verdict[0] ?? ""));
    contents.push({ id: `run${index}`, title: run.name, inner: false });
  }
  run.sections.forEach((finding, k) => {
    const id = `run${index}-${k}`;
    contents.push({ id, title: finding.title, inner: !alone });
    out.append(section(finding, id, alone ? "h2" : "h3"));
  });
  return out;
}

// ---- light and dark: as the system says, or as the reader does

const themes = ["auto", "light", "dark"];

function theme_switch(): HTMLElement {
  const button = html("button", { type: "button", class: "theme", title: "light, dark, or as the system says" });
  const show = (theme: string) => {
    document.documentElement.dataset.theme = theme;
    button.textContent = { auto: "\u25d0 auto", light: "\u25cb light", dark: "\u25cf dark" }[theme] ?? theme;
  };
  let now = "auto";
  try {
    now = localStorage.getItem("kelvin-theme") ?? now;
  } catch {
    // a page from the disk may have no storage
  }
  if (!themes.includes(now)) now = "auto";
  show(now);
  button.addEventListener("click", () => {
    now = themes[(themes.indexOf(now) + 1) % themes.length];
    show(now);
    try {
      localStorage.setItem("kelvin-theme", now);
    } catch {
      // not remembered
    }
  });
  return button;
}

function contents_element(entries: Entry[]): HTMLElement {
  const links = entries.map((e) => html("a", { href: "#" + e.id, class: e.inner ? "inner" : "" }, e.title));
  const box = html("details", {}, html("summary", {}, "Contents"), ...links);
  const wide = matchMedia("(min-width: 1080px)");
  const open = () => (box.open = wide.matches);
  wide.addEventListener("change", open);
  open();
  const by_id = new Map(entries.map((e, k) => [e.id, links[k]]));
  const watch = new IntersectionObserver(
    (seen) => {
      for (const entry of seen)
        if (entry.isIntersecting) {
          links.forEach((link) => link.classList.remove("here"));
          by_id.get(entry.target.id)?.classList.add("here");
        }
    },
    { rootMargin: "-10% 0px -80% 0px" },
  );
  requestAnimationFrame(() => entries.forEach((e) => watch.observe(document.getElementById(e.id) as Element)));
  return html("nav", { "aria-label": "contents" }, box);
}

function show_page(report: Report, page: HTMLElement): void {
  const alone = report.runs.length === 1;
  const contents: Entry[] = [];
  const main = html("main");
  const verdict = html("div", { class: "verdict" });
  for (const run of report.runs) {
    const [first, ...others] = run.verdict;
    verdict.append(html("p", {}, ...(alone ? [] : [html("strong", {}, run.name), ": "]), first ?? ""));
    if (alone) verdict.append(...others.slice(0, 3).map((text) => html("p", { class: "why" }, text)));
  }
  main.append(
    html(
      "header",
      {},
      html("p", { class: "brand" }, "Kelvin report"),
      html("h1", {}, report.title),
      verdict,
      html("p", { class: "made" }, `made ${report.made} by Kelvin ${report.version}`),
    ),
  );
  report.overview.forEach((finding, k) => {
    contents.push({ id: `overview-${k}`, title: finding.title, inner: false });
    main.append(section(finding, `overview-${k}`, "h2"));
  });
  report.runs.forEach((run, k) => main.append(run_element(run, k, alone, contents)));
  page.replaceChildren(contents_element(contents), main, theme_switch());
}

// One figure alone, 900 x 600: what `kelvin report --png` photographs.
function show_single(figure: Figure, page: HTMLElement): void {
  document.body.classList.add("single");
  document.documentElement.dataset.theme = "light";
  const size = { width: 852, height: 0 };
  const one = figure_element(figure, size);
  page.replaceChildren(one.element);
  size.height = 600 - 12 - one.element.offsetHeight;
  one.draw();
}

function start(): void {
  const page = document.getElementById("page") as HTMLElement;
  const report = JSON.parse(document.getElementById("report")?.textContent ?? "null") as Report | null;
  if (!report) {
    page.textContent = "This is the empty page that `kelvin report` fills.";
    return;
  }
  document.title = report.title;
  const wanted = /^#figure=(.+)$/.exec(location.hash)?.[1];
  const figures = [...report.overview, ...report.runs.flatMap((run) => run.sections)].flatMap((f) => f.figures);
  const single = figures.find((f) => f.id === wanted);
  if (single) return show_single(single, page);
  show_page(report, page);
  for (const one of drawn) one.draw();
  document.body.dataset.drawn = String(drawn.length);
  let width = page.clientWidth;
  let waiting = 0;
  const redraw = () => {
    if (page.clientWidth === width) return;
    width = page.clientWidth;
    cancelAnimationFrame(waiting);
    waiting = requestAnimationFrame(() => drawn.forEach((one) => one.draw()));
  };
  new ResizeObserver(redraw).observe(page);
  if (location.hash) document.getElementById(location.hash.slice(1))?.scrollIntoView();
}

start();
