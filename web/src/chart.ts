// SPDX-License-Identifier: Apache-2.0
// A flat figure: curves over a map or alone, drawn as SVG. Drag to zoom, double click to return, click the legend to hide.
import { area, curveLinear, curveStep, line } from "d3-shape";
import { type Range, type Scale, extent, fitted, html, is_number, make_scale, padded, svg, ticks } from "./axes";
import { class_colour, curve_class } from "./colour";
import { draw_map, map_extent } from "./map";
import { attend } from "./pointer";
import type { Curve, Figure, Num } from "./report";

export interface View {
  x?: Range;
  y?: Range;
  hidden: Set<number>;
}

const number_at = (list: Num[], k: number): number => list[k] ?? NaN;

function bar_width(x: Num[]): number {
  const at = x.filter(is_number).sort((a, b) => a - b);
  let least = Infinity;
  for (let k = 1; k < at.length; ++k) if (at[k] > at[k - 1]) least = Math.min(least, at[k] - at[k - 1]);
  return Number.isFinite(least) ? least : 1;
}

// How a style of curve is drawn. To add a style, add a row.
type Draw = (curve: Curve, x: Scale, y: Scale, among: { place: number; count: number }) => SVGElement[];

function stroke(curve: Curve, x: Scale, y: Scale, steps: boolean, extra: Record<string, string>): SVGElement[] {
  const shape = steps ? curveStep : curveLinear;
  const places = curve.x.map((_, k) => k);
  const px = (k: number) => x(number_at(curve.x, k));
  const py = (list: Num[]) => (k: number) => y(number_at(list, k));
  const seen =
    (...lists: Num[][]) =>
    (k: number) =>
      Number.isFinite(px(k)) && lists.every((list) => Number.isFinite(py(list)(k)));
  const out: SVGElement[] = [];
  if (curve.low.length && curve.high.length) {
    const band = area<number>()
      .defined(seen(curve.low, curve.high))
      .x(px)
      .y0(py(curve.low))
      .y1(py(curve.high))
      .curve(shape);
    out.push(svg("path", { d: band(places) ?? "", class: "band" }));
  }
  const path = line<number>().defined(seen(curve.y)).x(px).y(py(curve.y)).curve(shape);
  const d = path(places) ?? "";
  if (!("stroke-dasharray" in extra)) out.push(svg("path", { d, class: "halo" }));
  out.push(svg("path", { d, class: "line", ...extra }));
  return out;
}

const styles: Record<string, Draw> = {
  line: (curve, x, y) => stroke(curve, x, y, false, {}),
  dashed: (curve, x, y) => stroke(curve, x, y, false, { "stroke-dasharray": "6 4" }),
  steps: (curve, x, y) => stroke(curve, x, y, true, {}),
  points: (curve, x, y) => {
    const many = curve.x.length > 150;
    const radius = many ? 1.8 : 3;
    let dots = "";
    let whiskers = "";
    curve.x.forEach((_, k) => {
      const [px, py] = [x(number_at(curve.x, k)), y(number_at(curve.y, k))];
      if (!Number.isFinite(px) || !Number.isFinite(py)) return;
      dots += `M${(px - radius).toFixed(1)},${py.toFixed(1)}a${radius},${radius} 0 1,0 ${2 * radius},0a${radius},${radius} 0 1,0 ${-2 * radius},0`;
      const [low, high] = [y(number_at(curve.low, k)), y(number_at(curve.high, k))];
      if (Number.isFinite(low) && Number.isFinite(high))
        whiskers += `M${px.toFixed(1)},${low.toFixed(1)}V${high.toFixed(1)}`;
    });
    return [
      svg("path", { d: whiskers, class: "whisker" }),
      svg("path", { d: dots, class: many ? "dots many" : "dots" }),
    ];
  },
  bars: (curve, x, y, among) => {
    const width = bar_width(curve.x);
    const [low, high] = y.domain();
    const base = y(Math.min(Math.max(0, low), high) || low);
    const share = among.count <= 4 ? among.count : 1; // side by side, or over one another when there are many
    let path = "";
    curve.x.forEach((_, k) => {
      const at = number_at(curve.x, k) - width / 2 + (share > 1 ? (among.place * width) / share : 0);
      const [left, right, top] = [x(at), x(at + width / share), y(number_at(curve.y, k))];
      if (Number.isFinite(left) && Number.isFinite(top))
        path += `M${left.toFixed(1)},${base.toFixed(1)}V${top.toFixed(1)}H${(right - (right - left > 3 ? 1 : 0)).toFixed(1)}V${base.toFixed(1)}Z`;
    });
    return [svg("path", { d: path, class: "bar" })];
  },
};

function axis_extents(figure: Figure, curves: Curve[], log_x: boolean, log_y: boolean): { x: Range; y: Range } {
  const xs: Num[][] = curves.map((c) => c.x);
  const ys: Num[][] = curves.flatMap((c) => [c.y, c.low, c.high]);
  for (const curve of curves)
    if (curve.style === "bars") {
      const width = bar_width(curve.x);
      const range = extent([curve.x], log_x);
      if (range && !log_x) xs.push([range[0] - width / 2, range[1] + width / 2]);
      if (!log_y) ys.push([0]);
    }
  const map_x = figure.map && map_extent(figure.map, "x", log_x);
  const map_y = figure.map && map_extent(figure.map, "y", log_y);
  const x = extent(map_x ? [map_x] : xs, log_x) ?? [0, 1];
  const y = extent(map_y ? [map_y] : ys, log_y) ?? [0, 1];
  const has_bars = curves.some((c) => c.style === "bars");
  return {
    x: map_x && x[0] < x[1] ? x : padded(x, has_bars ? 0.005 : 0.02, log_x),
    y:
      map_y && y[0] < y[1]
        ? y
        : has_bars && !log_y && y[0] === 0
          ? [0, padded(y, 0.05, false)[1]]
          : padded(y, 0.06, log_y),
  };
}

export function legend_of(figure: Figure, view: View, redraw: () => void): HTMLElement {
  const box = html("div", { class: "legend" });
  const named = figure.curves.filter((c) => c.name);
  if (named.length > 1 || (named.length === 1 && figure.map))
    figure.curves.forEach((curve, k) => {
      if (!curve.name) return;
      const key = html(
        "button",
        {
          type: "button",
          class: `key ${curve_class(k)} ${curve.style}`,
          "aria-pressed": "true",
          title: "show or hide",
        },
        html("i"),
        curve.name,
      );
      key.addEventListener("click", () => {
        if (!view.hidden.delete(k)) view.hidden.add(k);
        key.setAttribute("aria-pressed", String(!view.hidden.has(k)));
        redraw();
      });
      box.append(key);
    });
  if (figure.map?.style === "classes")
    figure.map.classes.forEach((name, k) =>
      box.append(
        html("span", { class: "key region" }, html("i", { style: `background: rgba(${class_colour(k)}, 0.45)` }), name),
      ),
    );
  return box;
}

export function draw_chart(
  host: HTMLElement,
  figure: Figure,
  view: View,
  size?: { width: number; height: number },
): void {
  const width = Math.max(220, size?.width ?? host.clientWidth);
  const visible = figure.curves.map((curve, k) => ({ curve, k })).filter(({ k }) => !view.hidden.has(k));
  const positive = (lists: Num[][]) => extent(lists, true) !== undefined;
  const log_x = figure.log_x && positive([...figure.curves.map((c) => c.x), figure.map?.x ?? []]);
  const log_y = figure.log_y && positive([...figure.curves.map((c) => c.y), figure.map?.y ?? []]);
  const all = axis_extents(
    figure,
    visible.map(({ curve }) => curve),
    log_x,
    log_y,
  );
  let x_range: Range = view.x ?? all.x;
  let y_range: Range = view.y ?? all.y;
  const has_bar = figure.map !== undefined && figure.map.style !== "classes";

  let height = size?.height ?? Math.round(Math.min(360, Math.max(240, width * 0.62)));
  const rough = make_scale(y_range, [height, 0], log_y);
  const y_ticks = ticks(rough, Math.max(3, height / 55), log_y);
  const widest = Math.max(...y_ticks.map((t) => t.text.length), 1);
  const margin = {
    left: 16 + 7 * widest + (figure.y_label ? 18 : 0),
    right: has_bar ? 76 : 16,
    top: has_bar && figure.map?.label ? 26 : 10,
    bottom: figure.x_label ? 46 : 28,
  };
  let inner_width = width - margin.left - margin.right;
  if (figure.equal_axes && !view.x && !log_x && !log_y) {
    const [wide, tall] = [x_range[1] - x_range[0], y_range[1] - y_range[0]];
    if (!size)
      height = Math.round(Math.min(380, Math.max(140, (inner_width * tall) / wide))) + margin.top + margin.bottom;
    const inner = height - margin.top - margin.bottom;
    const unit = Math.max(wide / inner_width, tall / inner);
    const middle = (y_range[0] + y_range[1]) / 2;
    y_range = [middle - (unit * inner) / 2, middle + (unit * inner) / 2];
    margin.right += inner_width - wide / unit;
    inner_width = wide / unit;
  }
  const inner_height = height - margin.top - margin.bottom;
  const x = make_scale(x_range, [margin.left, margin.left + inner_width], log_x);
  const y = make_scale(y_range, [margin.top + inner_height, margin.top], log_y);

  const picture = svg("svg", {
    width,
    height,
    viewBox: `0 0 ${width} ${height}`,
    role: "img",
    "aria-label": figure.title,
  });
  const clip = "clip" + Math.random().toString(36).slice(2);
  const clip_path = svg("clipPath", { id: clip });
  clip_path.append(svg("rect", { x: margin.left, y: margin.top, width: inner_width, height: inner_height }));
  const grid = svg("g");
  const drawing = svg("g", { "clip-path": `url(#${clip})` });
  const frame = svg("g");
  picture.append(clip_path, grid, drawing, frame);

  for (const tick of ticks(x, Math.max(3, inner_width / 75), log_x)) {
    if (!figure.map)
      grid.append(
        svg("line", { x1: x(tick.at), x2: x(tick.at), y1: margin.top, y2: margin.top + inner_height, class: "grid" }),
      );
    frame.append(
      svg(
        "text",
        { x: x(tick.at), y: margin.top + inner_height + 17, "text-anchor": "middle", class: "tick" },
        tick.text,
      ),
    );
  }
  for (const tick of ticks(y, Math.max(3, inner_height / 50), log_y)) {
    if (!figure.map)
      grid.append(
        svg("line", { x1: margin.left, x2: margin.left + inner_width, y1: y(tick.at), y2: y(tick.at), class: "grid" }),
      );
    frame.append(
      svg("text", { x: margin.left - 8, y: y(tick.at), dy: "0.35em", "text-anchor": "end", class: "tick" }, tick.text),
    );
  }
  frame.append(
    svg("path", {
      d: `M${margin.left},${margin.top}V${margin.top + inner_height}H${margin.left + inner_width}`,
      class: "axis",
    }),
  );
  const middle = margin.top + inner_height / 2;
  frame.append(
    fitted(
      svg(
        "text",
        { x: margin.left + inner_width / 2, y: height - 8, "text-anchor": "middle", class: "label" },
        figure.x_label,
      ),
      inner_width,
    ),
  );
  frame.append(
    fitted(
      svg(
        "text",
        { transform: `translate(13 ${middle}) rotate(-90)`, "text-anchor": "middle", class: "label" },
        figure.y_label,
      ),
      inner_height,
    ),
  );

  if (figure.map)
    draw_map(
      drawing,
      figure.map,
      x,
      y,
      has_bar
        ? { group: frame, left: margin.left + inner_width + 14, top: margin.top, height: inner_height }
        : undefined,
    );
  const bars = visible.filter(({ curve }) => curve.style === "bars");
  const long = visible.filter(({ curve }) => curve.style === "line" && curve.x.length > 300).length;
  const state = `${bars.length > 4 || long > 2 ? " crowded" : ""}${figure.map ? " on-map" : ""}`;
  const under = svg("g");
  drawing.append(under);
  for (const { curve, k } of visible) {
    const name = `curve ${curve_class(k)}${state}`;
    const [back, group] = [svg("g", { class: name }), svg("g", { class: name })];
    const among = { place: bars.findIndex((b) => b.k === k), count: bars.length };
    for (const shape of (styles[curve.style] ?? styles.line)(curve, x, y, among))
      (shape.classList.contains("band") ? back : group).append(shape);
    under.append(back);
    drawing.append(group);
  }
  host.replaceChildren(picture);
  attend(
    host,
    picture,
    figure,
    visible.map((v) => v.curve),
    { x, y, margin, inner_width, inner_height },
    view,
    () => draw_chart(host, figure, view, size),
  );
}

export function new_view(): View {
  return { hidden: new Set() };
}
