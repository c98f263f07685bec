// Time chart: one quantity of one scheme over simulated time, with the theory as dashed lines.

import uPlot from "./vendor/uPlot.esm.js";
import { across, names, olderTrace } from "./pen.js";
import { AXIS_WIDTH, DASH, FONT, Plot, decades } from "./plot.js";
import { faded } from "./theme.js";
import { tickLabels } from "./units.js";

/** @typedef {import("./trace.js").Trace} Trace */
/** @typedef {import("./theme.js").Colours} Colours */
/** @typedef {{id: string, title: string, unit: string, columns: string[], fill: boolean,
 *   noneText: string}} Quantity */

export class TimeChart extends Plot {
  /** @param {Element} place @param {Quantity} quantity @param {() => Colours} colours */
  constructor(place, quantity, colours) {
    super(place, quantity.title, colours);
    this.quantity = quantity;
    this.hue = "blue";
    /** @type {import("./pen.js").Line[]} predicted */
    this.lines = [];
    /** @type {import("./pen.js").Line[]} set */
    this.marks = [];
    /** @type {{trace: Trace, shift: number, from: number}|null} */
    this.older = null;
    /** @type {[number, number]} */
    this.times = [0, 1];
    /** @type {[number, number]} */
    this.values = [0, 1];
    this.top = 1; // the highest tick
    this.hover = NaN;
    this.u = this.make();
  }

  make() {
    const { unit, columns, fill } = this.quantity;
    const colour = (/** @type {number} */ share) => () => faded(this.colours()[this.hue], share);
    const axis = { stroke: () => this.colours().quiet, font: FONT, ticks: { show: false } };
    const series = columns.map((_, i) => ({
      scale: "y", auto: false, stroke: colour(1 - 0.2 * i), width: columns.length > 1 ? 1.25 : 1.5,
      fill: fill ? colour(0.16) : undefined, points: { show: false },
    }));
    const options = {
      width: this.width(), height: this.height(), legend: { show: false }, padding: [6, 18, 0, 0],
      scales: {
        x: { time: false, auto: false, range: () => this.times },
        y: { range: () => this.values, distr: this.log ? 3 : 1 },
      },
      series: [{}, ...series],
      axes: [
        { ...axis, size: 23, gap: 6, space: 70, grid: { show: false },
          values: (/** @type {any} */ _, /** @type {number[]} */ ticks) => tickLabels(ticks, "s") },
        { ...axis, size: AXIS_WIDTH, gap: 4, space: 28, grid: { stroke: () => this.colours().grid, width: 1 },
          splits: () => (this.log ? decades(...this.values) : [0, this.top / 2, this.top]),
          filter: (/** @type {any} */ _, /** @type {any} */ ticks) => ticks,
          values: (/** @type {any} */ _, /** @type {number[]} */ ticks) => (this.log
            ? ticks.map((tick) => tickLabels([tick], unit)[0]) : tickLabels(ticks, unit)) },
      ],
      cursor: { sync: { key: "time", scales: ["x", null] }, drag: { x: false, y: false }, points: { show: false }, y: false },
      hooks: {
        drawAxes: [() => this.#drawUnder()],
        draw: [() => this.#drawOver()],
        setCursor: [(/** @type {any} */ u) => {
          this.hover = u.cursor.left >= 0 && u.cursor.left <= u.over.clientWidth
            ? u.posToVal(u.cursor.left, "x") : NaN;
        }],
      },
    };
    // @ts-expect-error uPlot's classes are plain functions
    return new uPlot(options, [[0, 1], ...columns.map(() => [null, null])], this.figure.plot);
  }

  /**
   * One frame.
   * @param {Trace} trace @param {import("./trace.js").Span} span
   * @param {[number, number]} times @param {[number, number]} values @param {number} top the highest tick
   */
  draw(trace, span, times, values, top) {
    const data = [trace.columns.t.subarray(span.start, span.end)];
    for (const name of this.quantity.columns) data.push(trace.columns[name].subarray(span.start, span.end));
    this.times = times;
    this.values = values;
    this.top = top;
    this.u.batch(() => {
      this.u.setData(data, false);
      this.u.setScale("x", { min: times[0], max: times[1] });
    });
  }

  #drawUnder() {
    if (!this.older) return;
    const { trace, shift, from } = this.older;
    const colour = faded(this.colours().quiet, 0.45);
    for (const name of this.quantity.columns) olderTrace(this.u, trace, name, shift, from, colour);
  }

  #drawOver() {
    const { quiet, text, ground } = this.colours();
    across(this.u, this.marks, { colour: quiet, dash: [1.5, 3] });
    across(this.u, this.lines, { colour: text, dash: DASH });
    names(this.u, this.marks, { colour: quiet, ground }, "left");
    names(this.u, this.lines, { colour: text, ground }, "right");
  }
}
