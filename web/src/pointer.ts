// SPDX-License-Identifier: Apache-2.0
// What the pointer does on a flat figure: it says what lies under it, and zooms. Fingers scroll the page as usual.
import { type Scale, html, is_number, number_text, svg } from "./axes";
import type { View } from "./chart";
import { cell_of } from "./map";
import type { Curve, Figure } from "./report";

export interface Place {
  x: Scale;
  y: Scale;
  margin: { left: number; top: number };
  inner_width: number;
  inner_height: number;
}

export function attend(
  host: HTMLElement,
  picture: SVGSVGElement,
  figure: Figure,
  curves: Curve[],
  place: Place,
  view: View,
  redraw: () => void,
): void {
  const { x, y, margin, inner_width, inner_height } = place;
  const tip = html("div", { class: "tip", hidden: "" });
  const mark = svg("line", { class: "mark", y1: margin.top, y2: margin.top + inner_height });
  const box = svg("rect", { class: "zoom" });
  host.append(tip);
  const at = (event: PointerEvent): [number, number] => {
    const bounds = picture.getBoundingClientRect();
    return [event.clientX - bounds.left, event.clientY - bounds.top];
  };
  const inside = ([px, py]: [number, number]) =>
    px >= margin.left && px <= margin.left + inner_width && py >= margin.top && py <= margin.top + inner_height;
  let from: [number, number] | undefined;
  const leave = () => {
    tip.hidden = true;
    mark.remove();
  };
  picture.addEventListener("pointerleave", leave);
  picture.addEventListener("pointerdown", (event) => {
    if (event.pointerType === "touch" || !inside(at(event))) return;
    from = at(event);
    picture.setPointerCapture(event.pointerId);
  });
  picture.addEventListener("pointermove", (event) => {
    const here = at(event);
    if (from) {
      const [a, b] = [from, here];
      for (const [name, value] of Object.entries({
        x: Math.min(a[0], b[0]),
        y: Math.min(a[1], b[1]),
        width: Math.abs(a[0] - b[0]),
        height: Math.abs(a[1] - b[1]),
      }))
        box.setAttribute(name, String(value));
      picture.append(box);
      return leave();
    }
    if (!inside(here)) return leave();
    const lines = describe(figure, curves, place, here);
    if (!lines.length) return leave();
    tip.replaceChildren(...lines.map((text) => html("div", {}, text)));
    tip.hidden = false;
    const left = here[0] > margin.left + inner_width / 2 ? here[0] - tip.offsetWidth - 14 : here[0] + 14;
    tip.style.left = `${Math.max(0, left)}px`;
    tip.style.top = `${margin.top + 6}px`;
    if (figure.map) return;
    mark.setAttribute("x1", String(here[0]));
    mark.setAttribute("x2", String(here[0]));
    picture.append(mark);
  });
  picture.addEventListener("pointerup", (event) => {
    if (!from) return;
    const [a, b] = [from, at(event)];
    from = undefined;
    box.remove();
    if (Math.abs(a[0] - b[0]) < 6 || Math.abs(a[1] - b[1]) < 6) return;
    view.x = [x.invert(Math.min(a[0], b[0])), x.invert(Math.max(a[0], b[0]))];
    view.y = [y.invert(Math.max(a[1], b[1])), y.invert(Math.min(a[1], b[1]))];
    redraw();
  });
  picture.addEventListener("dblclick", () => {
    view.x = view.y = undefined;
    redraw();
  });
}

function describe(figure: Figure, curves: Curve[], { x, y }: Place, [px, py]: [number, number]): string[] {
  const [at_x, at_y] = [x.invert(px), y.invert(py)];
  const lines = [`${figure.x_label || "x"} ${number_text(at_x, 4)}`];
  if (figure.map) {
    lines.push(`${figure.y_label || "y"} ${number_text(at_y, 4)}`);
    const [i, j] = [cell_of(figure.map.x, at_x, x), cell_of(figure.map.y, at_y, y)];
    const z = i < 0 || j < 0 ? null : figure.map.z[j * figure.map.x.length + i];
    if (is_number(z))
      lines.push(
        `${figure.map.label || "value"} ${figure.map.style === "classes" ? (figure.map.classes[z] ?? z) : number_text(z, 4)}`,
      );
    return lines;
  }
  const near: { distance: number; text: string }[] = [];
  for (const curve of curves) {
    let best = -1;
    let least = Infinity;
    const flat = curve.style === "points" ? 1 : 0;
    for (let k = 0; k < curve.x.length; ++k) {
      const [cx, cy] = [curve.x[k], curve.y[k]];
      if (!is_number(cx) || !is_number(cy)) continue;
      const distance = Math.hypot(x(cx) - px, flat * (y(cy) - py));
      if (distance < least) [least, best] = [distance, k];
    }
    if (best < 0 || least > 40) continue;
    const value = curve.y[best] as number;
    const [low, high] = [curve.low[best], curve.high[best]];
    const band = is_number(low) && is_number(high) ? `  (${number_text(low, 4)} \u2026 ${number_text(high, 4)})` : "";
    near.push({
      distance: Math.abs(y(value) - py),
      text: `${curve.name || figure.y_label || "y"}  ${number_text(value, 4)}${band}`,
    });
  }
  near.sort((a, b) => a.distance - b.distance);
  return near.length ? [...lines, ...near.slice(0, 6).map((n) => n.text)] : [];
}
