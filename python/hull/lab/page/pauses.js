// Pauses: the trees of pauses: which port's congestion paused whom, and when, for each scheme.

import { faded } from "./theme.js";
import { format, spoken } from "./units.js";

const MOST_ROWS = 12;
const EVERY_MS = 100;
const TREE_MS = 500;
const HIGH = 12; // px of a strip

/**
 * @typedef {import("./side.js").Side} Side
 * @typedef {{root: string, cause: string, paused: string, class: number, depth: number, pauses: number, time: number}} Cause
 * @typedef {{port: string, depth: number, column: string|null, time: number, pauses: number}} Row `column` of the trace;
 *   none for the root, which is congested
 */

const arrow = (/** @type {string} */ port) => port.replace("->", "→");

/** Rows in the order of the trees: below each port those that paused because of it. @param {Cause[]} causes @returns {Row[]} */
export function rows(causes) {
  /** @type {Row[]} */
  const found = [];
  const below = (/** @type {string} */ root, /** @type {string} */ port, /** @type {number} */ depth, /** @type {string[]} */ above) => {
    /** @type {Map<string, Row>} */
    const children = new Map();
    for (const cause of causes.filter((one) => one.root === root && one.cause === port && !above.includes(one.paused))) {
      const column = `${cause.paused} ${cause.class}`;
      const row = children.get(column) ?? { port: cause.paused, depth, column, time: 0, pauses: 0 };
      children.set(column, { ...row, time: row.time + cause.time, pauses: row.pauses + cause.pauses });
    }
    for (const row of [...children.values()].sort((a, b) => b.time - a.time)) {
      found.push(row);
      below(root, row.port, depth + 1, [...above, row.port]);
    }
  };
  for (const root of new Set(causes.map((cause) => cause.root))) {
    found.push({ port: root, depth: 0, column: null, time: 0, pauses: 0 });
    below(root, root, 1, [root]);
  }
  return found;
}

export class Pauses {
  /** @param {HTMLElement} place @param {() => Record<string, string>} colours */
  constructor(place, colours) {
    this.place = place;
    this.colours = colours;
    this.drawnAt = 0;
    this.treeAt = 0;
    this.shown = "";
    /** @type {{canvas: HTMLCanvasElement, column: string, side: Side}[]} */
    this.strips = [];
  }

  /** A run begins. */
  begin() { this.treeAt = 0; }

  /** @param {number} now ms @param {Side[]} sides @param {[number, number]} times in sight */
  draw(now, sides, times) {
    const any = sides.some((side) => side.latest?.pauses);
    this.place.hidden = !any;
    if (!any || now - this.drawnAt < EVERY_MS) return;
    this.drawnAt = now;
    if (now - this.treeAt > TREE_MS) { this.treeAt = now; this.#trees(sides); }
    for (const { canvas, column, side } of this.strips) this.#strip(canvas, column, side, times);
  }

  /** @param {Side[]} sides */
  #trees(sides) {
    const lists = sides.map((side) => ({ side, found: rows(side.latest?.pauses?.causes ?? []) }));
    const key = lists.map(({ side, found }) => `${side.title}${side.hue}${found.map((row) => row.depth + (row.column ?? row.port))}`).join();
    if (key !== this.shown) { this.shown = key; this.#build(lists); }
    for (const [i, { side, found }] of lists.entries()) {
      const all = side.latest?.pauses;
      const words = !all ? "has no pauses (no PFC)" : all.frames
        ? `${format(all.time / Math.max(side.reached, 1e-12), "number", { digits: 2 })} paused links on average, ${format(all.frames, "count")} pause frames`
        : "no pauses so far";
      write(this.heads[i], words);
      found.slice(0, MOST_ROWS).forEach((row, at) => {
        const time = row.column ? `${format(row.time, "s")}, ${format(row.time / Math.max(side.reached, 1e-12), "share", { digits: 2 })}` : "congested";
        write(this.cells[i][at].time, time);
        this.cells[i][at].strip.setAttribute("aria-label", `${arrow(row.port)}: ${spoken(time)}`);
      });
    }
  }

  /** @param {{side: Side, found: Row[]}[]} lists */
  #build(lists) {
    this.strips = [];
    /** @type {HTMLElement[]} */
    this.heads = [];
    /** @type {{time: HTMLElement, strip: HTMLElement}[][]} */
    this.cells = [];
    this.place.replaceChildren(...lists.map(({ side, found }) => {
      const figure = make("figure", "pauses");
      const head = make("h3", "");
      const swatch = make("span", "swatch");
      swatch.style.background = `var(--${side.hue})`;
      const words = make("p", "sum");
      head.append(swatch, make("span", "", "Who paused whom"), make("span", "scheme", side.title));
      this.heads.push(words);
      const list = make("div", "tree");
      list.setAttribute("role", "list");
      this.cells.push(found.slice(0, MOST_ROWS).map((row) => {
        const line = make("div", "row");
        line.setAttribute("role", "listitem");
        const name = make("span", "port", arrow(row.port));
        name.style.paddingLeft = `${row.depth}rem`;
        const strip = make(row.column ? "canvas" : "span", "strip");
        strip.setAttribute("role", "img");
        const time = make("span", "time");
        line.append(name, strip, time);
        list.append(line);
        if (row.column) this.strips.push({ canvas: /** @type {HTMLCanvasElement} */ (strip), column: row.column, side });
        return { time, strip };
      }));
      if (found.length > MOST_ROWS) list.append(make("p", "more", `and ${found.length - MOST_ROWS} more`));
      figure.append(head, words, list);
      return figure;
    }));
  }

  /** Hatched where the link waited. @param {HTMLCanvasElement} canvas @param {string} column @param {Side} side
   * @param {[number, number]} times */
  #strip(canvas, column, side, times) {
    const pen = canvas.getContext("2d");
    if (!pen) return;
    const scale = devicePixelRatio || 1;
    const width = Math.max(1, Math.round(canvas.clientWidth * scale));
    const height = Math.round(HIGH * scale);
    if (canvas.width !== width || canvas.height !== height) Object.assign(canvas, { width, height });
    pen.clearRect(0, 0, width, height);
    const { trace } = side;
    const shares = trace.columns[column];
    if (!shares) return;
    const colour = this.colours()[side.hue];
    const { start, end } = trace.since(times[0]);
    const x = (/** @type {number} */ t) => (width * (t - times[0])) / (times[1] - times[0]);
    for (let i = Math.max(start, trace.start + 1); i < end; i += 1) {
      if (!(shares[i] > 0)) continue;
      const left = x(trace.columns.t[i - 1]);
      pen.fillStyle = faded(colour, 0.2 + 0.6 * Math.min(1, shares[i]));
      pen.fillRect(left, 0, Math.max(1, x(trace.columns.t[i]) - left), height);
    }
    // The hatching is cut out, so it is seen without colours too.
    pen.globalCompositeOperation = "destination-out";
    pen.lineWidth = 1.5 * scale;
    pen.beginPath();
    for (let at = -height; at < width; at += 6 * scale) { pen.moveTo(at, height); pen.lineTo(at + height, 0); }
    pen.stroke();
    pen.globalCompositeOperation = "source-over";
  }
}

/** @param {string} tag @param {string} name @param {string} [text] */
const make = (tag, name, text = "") => Object.assign(document.createElement(tag), { className: name, textContent: text });

/** @param {Element} element @param {string} text */
function write(element, text) {
  if (element.textContent !== text) element.textContent = text;
}
