// SPDX-License-Identifier: Apache-2.0
// Tables: numbers aligned to the right, sorted by a click on a heading; long ones open on request.
import { html, number_text } from "./axes";
import type { Cell, Table } from "./report";

const rows_shown = 14;

function text_of(cell: Cell): string {
  if (cell === null || cell === undefined) return "\u2013";
  if (typeof cell === "boolean") return cell ? "yes" : "no";
  return typeof cell === "number" ? number_text(cell, 5) : String(cell);
}

function order(a: Cell, b: Cell): number {
  if (typeof a === "number" && typeof b === "number") return a - b;
  if (typeof a === "number" || typeof b === "number") return typeof a === "number" ? -1 : 1;
  return text_of(a).localeCompare(text_of(b), undefined, { numeric: true });
}

function cell_element(text: string, numeric: boolean): HTMLElement {
  return html("td", numeric ? { class: "number" } : text.length > 28 ? { class: "long" } : {}, text);
}

export function table_element(table: Table): HTMLElement {
  const numeric = new Set(table.columns.filter((name) => table.rows.some((row) => typeof row[name] === "number")));
  const body = html("tbody");
  let rows = table.rows;
  let open = rows.length <= rows_shown + 4;
  const fill = () =>
    body.replaceChildren(
      ...(open ? rows : rows.slice(0, rows_shown)).map((row) =>
        html("tr", {}, ...table.columns.map((name) => cell_element(text_of(row[name]), numeric.has(name)))),
      ),
    );
  let sorted: { by?: string; down: boolean } = { down: false };
  const heads = table.columns.map((name) => {
    const head = html(
      "th",
      { scope: "col", class: numeric.has(name) ? "number" : "", title: "sort" },
      name.replaceAll("_", " "),
    );
    head.addEventListener("click", () => {
      sorted = { by: name, down: sorted.by === name && !sorted.down };
      rows = [...table.rows].sort((a, b) => (sorted.down ? -1 : 1) * order(a[name], b[name]));
      heads.forEach((h) => h.removeAttribute("aria-sort"));
      head.setAttribute("aria-sort", sorted.down ? "descending" : "ascending");
      fill();
    });
    return head;
  });
  fill();
  const box = html("div", { class: "table" });
  if (table.title) box.append(html("h4", {}, table.title));
  box.append(
    html(
      "div",
      { class: "scroll", tabindex: "0" },
      html("table", {}, html("thead", {}, html("tr", {}, ...heads)), body),
    ),
  );
  if (!open) {
    const more = html("button", { type: "button", class: "more" }, `show all ${rows.length} rows`);
    more.addEventListener("click", () => {
      open = true;
      more.remove();
      fill();
    });
    box.append(more);
  }
  return box;
}
