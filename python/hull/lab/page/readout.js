// Readout: a row of numbers for each scheme, each beside what the theory says.

import { besides } from "./theory.js";
import { format } from "./units.js";

/** @typedef {{stat: string, title: string, unit: string, of?: "pauses"|"victim"}} Column `of`: networks that have it */

/** @type {Column[]} */
export const COLUMNS = [
  { stat: "queue_mean", title: "Mean queue", unit: "bytes" },
  { stat: "latency_p99", title: "Latency, 99%", unit: "s" },
  { stat: "throughput", title: "Throughput", unit: "bit/s" },
  { stat: "marks", title: "Marks", unit: "count" },
  { stat: "drops", title: "Drops", unit: "count" },
  { stat: "fct_small_p99", title: "1 KB FCT, 99%", unit: "s" },
  { stat: "fct_medium_p99", title: "20 KB FCT, 99%", unit: "s" },
  { stat: "paused", title: "Paused links", unit: "number", of: "pauses" },
  { stat: "victim", title: "Victim's goodput", unit: "bit/s", of: "victim" },
];
const SIZES = ["1 KB", "20 KB"]; // in the titles above, where no run names others

/** A title with the sizes of a run. @param {string} title @param {string[]} classes such as "1 KB requests" */
export const titled = (title, classes) => SIZES.reduce(
  (text, size, i) => text.replace(new RegExp(`^${size}`), classes[i]?.replace(/ requests$/, "") ?? size), title);

/** Whether a run has the transfers of a title. @param {string} title @param {string[]} classes */
export const has = (title, classes) => !classes.length || !SIZES.some((size, i) => title.startsWith(size) && i >= classes.length);

/** Text under a measured number. @param {Column} column @param {any} stats
 * @param {import("./theory.js").Prediction[]} predictions @param {boolean} [full] with the source */
export function underneath(column, stats, predictions, full = false) {
  if (column.stat === "drops" && stats?.timeouts) {
    return `${format(stats.timeouts, "count")} timeout${stats.timeouts === 1 ? "" : "s"}`;
  }
  const p = besides(predictions, column.stat);
  if (!p) return "";
  return `theory ${format(p.value, p.unit)}${full && p.source ? ` (${p.source})` : ""}`;
}

export class Readout {
  /** @param {HTMLElement} place */
  constructor(place) {
    const table = document.createElement("table");
    table.setAttribute("role", "table");
    const head = table.createTHead().insertRow();
    head.setAttribute("role", "row");
    head.append(cell("th", "columnheader", "Scheme"));
    this.heads = COLUMNS.map((column) => cell("th", "columnheader", column.title));
    head.append(...this.heads);
    const body = table.createTBody();
    this.rows = [0, 1].map(() => {
      const row = body.insertRow();
      row.setAttribute("role", "row");
      const swatch = Object.assign(document.createElement("span"), { className: "swatch" });
      const name = document.createElement("span");
      const title = cell("th", "rowheader", "");
      title.append(swatch, name);
      row.append(title);
      const cells = COLUMNS.map((column) => {
        const td = cell("td", "cell", "");
        td.dataset.title = column.title;
        const number = Object.assign(document.createElement("strong"), { textContent: "–" });
        const theory = document.createElement("small");
        td.append(number, theory);
        row.append(td);
        return { td, number, theory };
      });
      return { row, swatch, name, cells };
    });
    place.append(table);
  }

  /** Show the columns of pauses, or hide them. @param {boolean} pauses @param {boolean} victim */
  showPauses(pauses, victim) {
    COLUMNS.forEach(({ of, title }, i) => {
      if (of) this.#show(i, of === "pauses" ? pauses : victim);
      // The lossless network has no requests.
      else if (victim && SIZES.some((size) => title.startsWith(size))) this.#show(i, false);
    });
  }

  /** @param {number} i @param {boolean} shown */
  #show(i, shown) {
    this.heads[i].hidden = !shown;
    for (const { cells } of this.rows) cells[i].td.hidden = !shown;
  }

  /** Name the sizes of this run. @param {string[]} classes */
  showClasses(classes) {
    COLUMNS.forEach((column, i) => {
      const title = titled(column.title, classes);
      write(this.heads[i], title);
      for (const { cells } of this.rows) cells[i].td.dataset.title = title;
      if (!column.of) this.#show(i, has(column.title, classes));
    });
  }

  /** @param {number} index @param {{title: string, hue: string}|null} scheme @param {any} stats
   * @param {import("./theory.js").Prediction[]} predictions */
  show(index, scheme, stats, predictions) {
    const { row, swatch, name, cells } = this.rows[index];
    row.hidden = !scheme;
    if (!scheme) return;
    swatch.style.background = `var(--${scheme.hue})`;
    write(name, scheme.title);
    COLUMNS.forEach((column, i) => {
      write(cells[i].number, format(stats?.[column.stat], column.unit));
      write(cells[i].theory, underneath(column, stats, predictions));
    });
  }
}

/** @param {string} tag @param {string} role @param {string} text */
function cell(tag, role, text) {
  const element = document.createElement(tag);
  element.setAttribute("role", role);
  if (role === "rowheader") element.setAttribute("scope", "row");
  element.textContent = text;
  return element;
}

/** @param {Element} element @param {string} text */
function write(element, text) {
  if (element.textContent !== text) element.textContent = text;
}
