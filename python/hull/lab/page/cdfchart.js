// CDF chart: the latency of both schemes so far. The share axis is stretched towards 100%, because the 99th
// percentile is what the papers are about: a share s stands at -log10(1 - s), as in hull's figures.

import uPlot from "./vendor/uPlot.esm.js";
import { upright } from "./pen.js";
import { AXIS_WIDTH, DASH, FONT, Plot, decades } from "./plot.js";
import { roundUp } from "./scale.js";
import { format, tickLabels } from "./units.js";

const HIGHEST = 3.3; // position of 99.95%
const SHARES = [[0, "0"], [Math.log10(2), "50%"], [1, "90%"], [2, "99%"], [3, "99.9%"]];

/** @param {number} share */
const position = (share) => (share >= 0.9995 ? HIGHEST + 0.2 : -Math.log10(1 - share));

/** @typedef {{edges: number[], cdf: number[]}} Latency */

export class CdfChart extends Plot {
  /** @param {Element} place @param {string} title @param {() => Record<string, string>} colours */
  constructor(place, title, colours) {
    super(place, title, colours);
    this.figure.element.classList.add("cdf");
    this.hues = ["blue", "green"];
    /** @type {{value: number, label: string, hue: string}[]} */
    this.lines = [];
    this.high = 1e-4;
    /** @type {[number, number]} */
    this.limits = [1e-6, 1e-3];
    this.u = this.make();
  }

  make() {
    const axis = { stroke: () => this.colours().quiet, font: FONT, ticks: { show: false },
      grid: { stroke: () => this.colours().grid, width: 1 } };
    const series = [0, 1].map((i) => ({
      scale: "y", auto: false, stroke: () => this.colours()[this.hues[i]], width: 2, points: { show: false }, spanGaps: true,
    }));
    const options = {
      width: this.width(), height: this.height(), legend: { show: false }, padding: [6, 24, 0, 0],
      scales: {
        x: { time: false, auto: false, range: () => this.limits, distr: this.log ? 3 : 1 },
        y: { range: () => [0, HIGHEST] },
      },
      series: [{}, ...series],
      axes: [
        { ...axis, size: 24, gap: 4, space: 60,
          ...(this.log ? { splits: () => decades(...this.limits), filter: (/** @type {any} */ _, /** @type {any} */ t) => t } : {}),
          values: (/** @type {any} */ _, /** @type {number[]} */ ticks) => (this.log
            ? ticks.map((tick) => tickLabels([tick], "s")[0]) : tickLabels(ticks, "s")) },
        { ...axis, size: AXIS_WIDTH, gap: 4, splits: () => SHARES.map(([at]) => at),
          values: () => SHARES.map(([, label]) => label) },
      ],
      cursor: { drag: { x: false, y: false }, points: { show: false }, y: false },
      hooks: { draw: [() => this.#drawOver()] },
    };
    // @ts-expect-error uPlot's classes are plain functions
    return new uPlot(options, [[1e-6, 1e-3], [null, null], [null, null]], this.figure.plot);
  }

  /** @param {(Latency|null)[]} latencies of one or two schemes */
  draw(latencies) {
    const tables = latencies.map((latency) => {
      const edges = latency?.edges ?? [];
      const shares = (latency?.cdf ?? []).map(position);
      return [edges, shares];
    }).filter(([edges]) => edges.length);
    if (!tables.length) return;
    const data = tables.length > 1 ? uPlot.join(tables) : [...tables[0], tables[0][0].map(() => null)];
    this.#fit(tables);
    this.u.batch(() => {
      this.u.setData(data, false);
      this.u.setScale("x", { min: this.limits[0], max: this.limits[1] });
    });
  }

  /** Limits around the curves and what is predicted. @param {number[][][]} tables */
  #fit(tables) {
    let low = Infinity;
    let high = 0;
    for (const [edges, shares] of tables) {
      const first = shares.findIndex((share) => share > 0.01);
      const last = shares.findIndex((share) => share >= 3);
      if (first >= 0) low = Math.min(low, edges[Math.max(0, first - 1)] || edges[first]);
      high = Math.max(high, edges[last >= 0 ? last : edges.length - 1]);
    }
    for (const line of this.lines) high = Math.max(high, line.value);
    if (!(low > 0) || low === Infinity) low = high / 100;
    if (this.log) {
      const least = 10 ** Math.floor(Math.log10(low) + 1e-9);
      const most = 10 ** Math.ceil(Math.log10(high) - 1e-9);
      this.limits = [Math.max(1e-7, least), Math.max(most, least * 100)];
    } else {
      this.high = high * 1.1 > this.high || high < this.high * 0.4 ? roundUp(high * 1.1) : this.high;
      this.limits = [0, this.high];
    }
  }

  #drawOver() {
    const { ground, text } = this.colours();
    this.lines.forEach((line, row) => {
      upright(this.u, line.value, line.label, row, { colour: this.colours()[line.hue], ink: text, ground, dash: DASH });
    });
  }
}

/** What the distribution says at some shares; not read off the curve, which knows its edges only.
 * @param {any} stats of a frame @param {number[]} shares in per cent */
export const percentiles = (stats, shares) => (stats
  ? shares.map((share) => `${share}% within ${format(stats[`latency_p${share}`], "s")}`).join(", ") : "");
