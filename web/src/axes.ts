// SPDX-License-Identifier: Apache-2.0
// Scales, numbers as text, and small makers of elements.
import { type ScaleContinuousNumeric, scaleLinear, scaleLog } from "d3-scale";
import type { Num } from "./report";

export type Scale = ScaleContinuousNumeric<number, number>;
export type Range = [number, number];

export function is_number(x: Num | undefined): x is number {
  return typeof x === "number" && Number.isFinite(x);
}

// Smallest and largest of the numbers; only the positive ones on a logarithmic axis. None: undefined.
export function extent(lists: Num[][], log: boolean): Range | undefined {
  let low = Infinity;
  let high = -Infinity;
  for (const list of lists)
    for (const x of list)
      if (is_number(x) && (!log || x > 0)) {
        if (x < low) low = x;
        if (x > high) high = x;
      }
  return low <= high ? [low, high] : undefined;
}

export function padded([low, high]: Range, share: number, log: boolean): Range {
  if (log) {
    const factor = high > low ? (high / low) ** share : 2;
    return [low / factor, high * factor];
  }
  const room = high > low ? (high - low) * share : Math.abs(low) * 0.1 || 1;
  return [low - room, high + room];
}

export function make_scale(domain: Range, range: Range, log: boolean): Scale {
  return (log ? scaleLog() : scaleLinear()).domain(domain).range(range);
}

// Whether numbers span so much that only their logarithm can be shown.
export function spans_decades(range: Range): boolean {
  return range[0] > 0 && range[1] / range[0] > 100;
}

export interface Tick {
  at: number;
  text: string;
}

export function ticks(scale: Scale, count: number, log: boolean): Tick[] {
  const [low, high] = scale.domain() as Range;
  if (!log || high / low < 8) {
    const at = scale.ticks(Math.max(2, count));
    return thinned(at, count).map((x) => ({ at: x, text: number_text(x, 5) }));
  }
  const decades: number[] = [];
  for (let d = Math.ceil(Math.log10(low) - 1e-9); d <= Math.log10(high) + 1e-9; ++d) decades.push(10 ** d);
  const fine = decades.length < 3 ? [1, 2, 5] : [1];
  const at = (decades[0] / 10 >= low / 10 ? [decades[0] / 10, ...decades] : decades)
    .flatMap((d) => fine.map((k) => k * d))
    .filter((x) => x >= low && x <= high);
  return thinned(at, count).map((x) => ({ at: x, text: number_text(x, 3) }));
}

function thinned(at: number[], count: number): number[] {
  const every = Math.ceil(at.length / Math.max(2, count * 1.6));
  return every > 1 ? at.filter((_, k) => k % every === 0) : at;
}

const superscript = (text: string) =>
  text.replace(/[-0-9]/g, (c) =>
    c === "-" ? "\u207b" : "\u2070\u00b9\u00b2\u00b3\u2074\u2075\u2076\u2077\u2078\u2079"[Number(c)],
  );

export function number_text(x: number, digits: number): string {
  if (x === 0) return "0";
  const size = Math.abs(x);
  if (size >= 1e6 || size < 1e-3) {
    const [mantissa, power] = x.toExponential(digits - 1).split("e");
    const short = String(Number(mantissa));
    const ten = "10" + superscript(String(Number(power)));
    return short === "1" ? ten : short === "-1" ? "\u2212" + ten : short.replace("-", "\u2212") + "\u00b7" + ten;
  }
  const text = size >= 10 ** digits ? String(Math.round(x)) : String(Number(x.toPrecision(digits)));
  return text.replace("-", "\u2212");
}

// ---- elements

export function html<K extends keyof HTMLElementTagNameMap>(
  tag: K,
  attributes: Record<string, string> = {},
  ...children: (Node | string)[]
): HTMLElementTagNameMap[K] {
  const element = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) element.setAttribute(name, value);
  element.append(...children);
  return element;
}

export function svg<K extends keyof SVGElementTagNameMap>(
  tag: K,
  attributes: Record<string, string | number> = {},
  text?: string,
): SVGElementTagNameMap[K] {
  const element = document.createElementNS("http://www.w3.org/2000/svg", tag);
  for (const [name, value] of Object.entries(attributes)) element.setAttribute(name, String(value));
  if (text !== undefined) element.textContent = text;
  return element;
}

// A label made smaller where there is too little room for it.
export function fitted(text: SVGTextElement, room: number): SVGTextElement {
  const wide = 6.9 * (text.textContent ?? "").length;
  if (wide > room) text.setAttribute("style", `font-size: ${Math.max(8, (12.5 * room) / wide).toFixed(1)}px`);
  return text;
}
