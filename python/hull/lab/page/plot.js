// What both charts are: a uPlot in a figure, on a linear or a logarithmic scale, as large as its place.

import { Figure } from "./figure.js";

export const FONT = '11px system-ui, "Segoe UI", Roboto, "DejaVu Sans", sans-serif';
export const AXIS_WIDTH = 58;
export const DASH = [6, 4];

/** Whole decades only. @param {number} low @param {number} high */
export function decades(low, high) {
  const ticks = /** @type {number[]} */ ([]);
  if (!(low > 0)) return ticks; // nothing has been drawn yet
  for (let tick = 10 ** Math.ceil(Math.log10(low) - 1e-9); tick <= high * 1.0001; tick *= 10) ticks.push(tick);
  return ticks;
}

/** A subclass sets what `make` needs, then `u` to what `make` returns. */
export class Plot {
  /** @type {any} the uPlot */
  u = null;

  log = false;

  /** @param {Element} place @param {string} title @param {() => Record<string, string>} colours */
  constructor(place, title, colours) {
    this.colours = colours;
    this.figure = new Figure(place, title);
  }

  /** A uPlot of this scale. @returns {any} */
  make() { throw new Error("a subclass makes it"); }

  /** @param {boolean} log */
  setLog(log) {
    if (log === this.log) return;
    this.log = log;
    this.u.destroy();
    this.u = this.make();
  }

  width() { return Math.max(120, this.figure.plot.clientWidth); }

  height() { return this.figure.plot.clientHeight || 120; }

  resize() {
    const width = this.width();
    const height = this.height();
    if (width !== this.u.width || height !== this.u.height) this.u.setSize({ width, height });
  }
}
