// Numbers: everything that the charts show as one table, and a sentence for screen readers.

import { has, titled } from "./readout.js";
import { QUANTITIES, leftOut } from "./side.js";
import { format, spoken } from "./units.js";

const EVERY_MS = 2000;
const ALOUD_MS = 10000;

/** @typedef {import("./board.js").Board} Board */

/** What is counted and averaged. */
const STATS = [
  ["queue_mean", "Mean queue", "bytes"], ["queue_max", "Largest queue", "bytes"],
  ["throughput", "Throughput", "bit/s"], ["goodput_long", "Goodput of the long flows", "bit/s"],
  ["latency_p50", "Latency, 50%", "s"], ["latency_p99", "Latency, 99%", "s"],
  ["fct_small_p50", "1 KB FCT, 50%", "s"], ["fct_small_p99", "1 KB FCT, 99%", "s"],
  ["fct_small_count", "1 KB requests completed", "count"],
  ["fct_medium_p50", "20 KB FCT, 50%", "s"], ["fct_medium_p99", "20 KB FCT, 99%", "s"],
  ["fct_medium_count", "20 KB requests completed", "count"],
  ["victim", "Goodput of the first flow", "bit/s"], ["paused", "Paused links, mean", "number"],
  ["marks", "Marks", "count"], ["drops", "Drops", "count"], ["timeouts", "Timeouts", "count"],
].map(([name, title, unit]) => ({ name, title, unit }));

const OF_PAUSES = ["victim", "paused"];

const cell = (/** @type {string} */ tag, /** @type {string} */ text) => Object.assign(document.createElement(tag), { textContent: text });

export class Numbers {
  /** @param {HTMLDetailsElement} details @param {Board} board */
  constructor(details, board) {
    this.board = board;
    this.details = details;
    this.box = /** @type {Element} */ (details.querySelector(".box"));
    const aloud = /** @type {HTMLInputElement} */ (details.querySelector("#aloud"));
    const live = /** @type {HTMLElement} */ (details.querySelector("#live"));
    aloud.addEventListener("change", () => live.setAttribute("aria-live", aloud.checked ? "polite" : "off"));
    details.addEventListener("toggle", () => this.fill());
    setInterval(() => { if (details.open && !document.hidden) this.fill(); }, EVERY_MS);
    setInterval(() => { if (aloud.checked) live.textContent = this.sentence(); }, ALOUD_MS);
  }

  /** What is seen now, a row for each number: quantity, scheme, now, theory. */
  rows() {
    const { board } = this;
    /** @type {string[][]} */
    const rows = [];
    for (const side of board.sides.slice(0, board.count)) {
      QUANTITIES.forEach(({ id, title }, i) => {
        if (id !== "phantom" && leftOut(id, [side])) return;
        const chart = side.charts[i];
        const from = Math.max(0, board.shown - 4 * board.speed);
        rows.push([side.title, `${title}, in sight`, side.reading(chart, from) || "–", chart.figure.theory.textContent ?? ""]);
      });
      for (const { name, title, unit } of STATS.filter((stat) => has(stat.title, board.classes) && (side.latest?.pauses || !OF_PAUSES.includes(stat.name)))) {
        const others = side.predictions.filter((p) => p.stat === name && p.value !== null);
        const since = board.warming ? "start" : "warm-up";
        rows.push([side.title, `${titled(title, board.classes)}, since the ${since}`, format(side.latest?.stats?.[name], unit),
          others.map((p) => `${format(p.value, p.unit)} (${p.source})`).join("; ")]);
      }
      for (const p of side.predictions.filter((q) => !q.chart && !q.stat && q.value !== null)) {
        rows.push([side.title, p.title, "", `${format(p.value, p.unit)} (${p.source})`]);
      }
    }
    return rows;
  }

  fill() {
    if (!this.details.open) return;
    const table = document.createElement("table");
    const head = table.createTHead().insertRow();
    for (const title of ["Scheme", "Quantity", "Simulated", "Theory"]) {
      const th = cell("th", title);
      th.setAttribute("scope", "col");
      head.append(th);
    }
    const body = table.createTBody();
    for (const texts of this.rows()) body.insertRow().append(...texts.map((text) => cell("td", text)));
    this.box.replaceChildren(table);
  }

  sentence() {
    const { board } = this;
    return board.sides.slice(0, board.count).map((side) => {
      const stats = side.latest?.stats;
      return `${side.title}: mean queue ${spoken(format(stats?.queue_mean, "bytes"))}, `
        + `99% latency ${spoken(format(stats?.latency_p99, "s"))}, `
        + `throughput ${spoken(format(stats?.throughput, "bit/s"))}.`;
    }).join(" ");
  }
}
