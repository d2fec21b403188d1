// SPDX-License-Identifier: Apache-2.0
// A figure with its title, legend, picture, caption and the buttons that save it.
import { html } from "./axes";
import { draw_chart, legend_of, new_view } from "./chart";
import type { Figure } from "./report";
import { draw_surface, first_angle } from "./surface";

export interface Drawn {
  element: HTMLElement;
  draw(): void; // once it is in the page
}

export function figure_element(figure: Figure, size?: { width: number; height: number }): Drawn {
  const plot = html("div", { class: "plot" });
  const view = new_view();
  const angle = first_angle();
  const map = figure.map;
  const draw = () =>
    map?.style === "surface" ? draw_surface(plot, figure, map, angle, size) : draw_chart(plot, figure, view, size);
  const save = html("div", { class: "save" });
  for (const [name, write] of [
    ["SVG", save_svg],
    ["PNG", save_png],
  ] as const) {
    const button = html("button", { type: "button", title: `save this figure as ${name}` }, name);
    button.addEventListener("click", () => write(plot, figure.id));
    save.append(button);
  }
  const element = html(
    "figure",
    { id: figure.id, class: map ? "map" : "" },
    html("div", { class: "head" }, html("h4", {}, figure.title), save),
    legend_of(figure, view, draw),
    plot,
    html("figcaption", {}, figure.caption),
  );
  return { element, draw };
}

// The picture alone, with the colours that it has on the page.
function standalone(plot: HTMLElement): { text: string; width: number; height: number } {
  const shown = plot.querySelector("svg") as SVGSVGElement;
  const copy = shown.cloneNode(true) as SVGSVGElement;
  copy.setAttribute("xmlns", "http://www.w3.org/2000/svg");
  const [from, to] = [shown.querySelectorAll("*"), copy.querySelectorAll("*")];
  const kept = [
    "fill",
    "fill-opacity",
    "stroke",
    "stroke-width",
    "stroke-opacity",
    "stroke-dasharray",
    "opacity",
    "font-family",
    "font-size",
  ];
  from.forEach((element, k) => {
    const style = getComputedStyle(element);
    to[k].setAttribute("style", kept.map((name) => `${name}:${style.getPropertyValue(name)}`).join(";"));
  });
  const [width, height] = [shown.width.baseVal.value, shown.height.baseVal.value];
  const paper = document.createElementNS("http://www.w3.org/2000/svg", "rect");
  paper.setAttribute("width", "100%");
  paper.setAttribute("height", "100%");
  paper.setAttribute("style", `fill:${getComputedStyle(plot.closest("figure") as Element).backgroundColor}`);
  copy.prepend(paper);
  return { text: new XMLSerializer().serializeToString(copy), width, height };
}

function save_as(name: string, address: string): void {
  html("a", { href: address, download: name }).click();
}

function save_svg(plot: HTMLElement, name: string): void {
  save_as(name + ".svg", "data:image/svg+xml;charset=utf-8," + encodeURIComponent(standalone(plot).text));
}

function save_png(plot: HTMLElement, name: string): void {
  const { text, width, height } = standalone(plot);
  const image = new Image();
  image.onload = () => {
    const canvas = html("canvas", { width: String(2 * width), height: String(2 * height) });
    canvas.getContext("2d")?.drawImage(image, 0, 0, 2 * width, 2 * height);
    save_as(name + ".png", canvas.toDataURL());
  };
  image.src = "data:image/svg+xml;charset=utf-8," + encodeURIComponent(text);
}
