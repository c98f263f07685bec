// Plane: latency against bandwidth, one dot for each scheme that runs, its former places as a fading trail.

import { add, clear, element } from "./svg.js";
import { shortTitle } from "./model.js";
import { decades } from "./plot.js";
import { format, spoken } from "./units.js";

const EDGE = { left: 54, right: 22, top: 10, bottom: 34 };
const TRAIL = 14; // former places of a scheme
const APART = 4; // px between two of them
const LEAST = 100; // requests of which a 99th percentile is worth a filled dot
const FLOOR = 1e-7; // s: lower latencies stand at the bottom
const SHRINK_MS = 2500;
const LOWS = [0.9, 0.8, 0.7, 0.6, 0.5, 0.4, 0.2, 0];
const ACK = 40; // bytes of headers

/**
 * @typedef {{id: string, title: string, hue: string, stats: any,
 *   predictions: import("./theory.js").Prediction[]}} Entry
 * @typedef {{bandwidth: string, latency: string, classes: string[]}} Kinds
 * @typedef {{x: number, p50: number, p99: number, sure: boolean}} Place
 */

export class Plane {
  /** @param {HTMLElement} place a figure with .scene */
  constructor(place) {
    this.scene = /** @type {HTMLElement} */ (place.querySelector(".scene"));
    this.note = /** @type {HTMLElement} */ (place.querySelector(".note"));
    this.svg = element("svg", {});
    this.scene.append(this.svg);
    this.axes = add(this.svg, "g", { class: "axes" });
    this.theory = add(this.svg, "g", { class: "expected" });
    this.trails = add(this.svg, "g", { class: "trails" });
    this.dots = add(this.svg, "g", { class: "dots" });
    this.empty = add(this.svg, "text", { "text-anchor": "middle", class: "name" });
    /** @type {Map<string, {x: number, y: number}[]>} */
    this.former = new Map();
    /** @type {Map<string, Place>} */
    this.now = new Map();
    /** @type {Map<string, any>} */
    this.marks = new Map();
    /** @type {Kinds} */
    this.kinds = { bandwidth: "throughput", latency: "latency", classes: [] };
    /** @type {Entry[]} */
    this.entries = [];
    this.low = 0.8;
    this.range = [1e-6, 1e-3];
    this.wideSince = 0;
    this.drawn = ""; // what the axes show
    /** @type {Record<string, number>} */
    this.values = {};
    this.fresh = false; // whether the next settings have nothing to do with those before
    new ResizeObserver(() => this.draw()).observe(this.scene);
  }

  /** Other settings, or other schemes: what was is trail. @param {Kinds} kinds @param {Entry[]} entries
   * @param {Record<string, number>} values */
  begin(kinds, entries, values) {
    const same = kinds.bandwidth === this.kinds.bandwidth && kinds.latency === this.kinds.latency;
    for (const [id, place] of this.now) this.#leave(id, place);
    if (this.fresh || !same || !this.entries.some((e) => entries.some((f) => e.id === f.id))) {
      this.former.clear();
      this.now.clear();
    }
    for (const id of [...this.former.keys(), ...this.now.keys()]) {
      if (entries.some((entry) => entry.id === id)) continue;
      this.former.delete(id);
      this.now.delete(id);
    }
    this.fresh = false;
    this.kinds = kinds;
    this.entries = entries;
    this.values = values;
    clear(this.dots);
    this.marks.clear();
    for (const { id, hue, title } of entries) {
      const group = add(this.dots, "g", { class: "dot" });
      group.style.setProperty("--hue", `var(--${hue})`);
      const dot = add(group, "circle", { r: 6 });
      const line = add(group, "path", { class: "median" });
      const label = add(this.dots, "text", { class: "label" });
      this.marks.set(id, { group, dot, line, label, title: shortTitle(title) });
    }
    this.#caption();
  }

  /** The places of now. @param {Entry[]} entries @param {boolean} warming */
  show(entries, warming) {
    this.entries = entries;
    for (const { id, stats } of entries) {
      const place = placeOf(stats, this.kinds, this.values.rate, warming);
      if (place) this.now.set(id, place);
    }
    this.draw();
  }

  /** @param {string} id @param {Place} place */
  #leave(id, place) {
    const list = this.former.get(id) ?? [];
    const last = list[list.length - 1];
    const [x, y] = [place.x, place.p99];
    const far = !last || Math.hypot(this.#x(x) - this.#x(last.x), this.#y(y) - this.#y(last.y)) > APART;
    if (far) list.push({ x, y });
    this.former.set(id, list.slice(-TRAIL));
  }

  get width() { return Math.max(160, this.scene.clientWidth); }

  get height() { return Math.max(120, this.scene.clientHeight); }

  /** @param {number} share */
  #x(share) {
    const part = (share - this.low) / (1 - this.low);
    return EDGE.left + Math.min(1.02, Math.max(0, part)) * (this.width - EDGE.left - EDGE.right);
  }

  /** @param {number} seconds */
  #y(seconds) {
    const [low, high] = this.range.map(Math.log10);
    const part = (Math.log10(Math.max(seconds, this.range[0])) - low) / (high - low);
    return this.height - EDGE.bottom - Math.min(1, part) * (this.height - EDGE.bottom - EDGE.top);
  }

  /** The range that holds all places; it grows at once and shrinks late. */
  #fit() {
    const places = [...this.now.values()];
    const trail = [...this.former.values()].flat();
    const theory = this.entries.map((entry) => this.#predicted(entry)).filter((p) => p !== null);
    const xs = [...places.map((p) => p.x), ...trail.map((p) => p.x), ...theory.map((p) => p.x)];
    const ys = [...places.flatMap((p) => [p.p50 || FLOOR * 10, p.p99]), ...trail.map((p) => p.y),
      ...theory.map((p) => p.y ?? NaN)].filter((y) => y > 0);
    if (!xs.length || !ys.length) return;
    const least = Math.min(...xs) - 0.02;
    const low = LOWS.find((x) => x <= least) ?? 0;
    const floor = Math.max(FLOOR, half(Math.min(...ys) * 0.8, Math.floor));
    const range = [floor, Math.max(half(Math.max(...ys) * 1.25, Math.ceil), floor * 10)];
    const narrower = low > this.low || range[0] > this.range[0] || range[1] < this.range[1];
    const wider = low < this.low || range[0] < this.range[0] || range[1] > this.range[1];
    const now = performance.now();
    if (wider) {
      this.low = Math.min(low, this.low);
      this.range = [Math.min(range[0], this.range[0]), Math.max(range[1], this.range[1])];
      this.wideSince = now;
    } else if (!narrower) {
      this.wideSince = now;
    } else if (now - this.wideSince > SHRINK_MS) {
      [this.low, this.range, this.wideSince] = [low, range, now];
    }
  }

  /** What the models expect of a scheme; y is null where they have bandwidth only. @param {Entry} entry
   * @returns {{x: number, y: number|null}|null} */
  #predicted({ predictions }) {
    const value = (/** @type {string} */ name) => predictions.find((p) => p.name === name)?.value ?? null;
    const carried = value("throughput");
    if (carried === null) return null;
    const { rate, load, mtu } = this.values;
    const x = this.kinds.bandwidth === "throughput" ? carried / rate
      : ((carried / rate - load) * (mtu - ACK)) / mtu;
    return { x, y: this.kinds.latency === "latency" ? value("latency_p99") : null };
  }

  draw() {
    this.#fit();
    const { width, height } = this;
    this.svg.setAttribute("viewBox", `0 0 ${width} ${height}`);
    this.#drawAxes(width, height);
    clear(this.trails);
    clear(this.theory);
    for (const entry of this.entries) {
      this.#drawTheory(entry, height);
      this.#drawTrail(entry);
      this.#drawDot(entry, height);
    }
    this.#spread(width, height);
    this.empty.textContent = this.now.size || !this.entries.length ? "" : `No ${this.kinds.latency === "fct_small" ? this.kinds.classes[0] : "packets"} yet`;
    this.empty.setAttribute("x", String((EDGE.left + width - EDGE.right) / 2));
    this.empty.setAttribute("y", String(height / 2));
  }

  /** @param {number} width @param {number} height */
  #drawAxes(width, height) {
    const key = [width, height, this.low, ...this.range, this.kinds.bandwidth, this.kinds.latency].join();
    if (this.drawn === key) return;
    this.drawn = key;
    clear(this.axes);
    const bottom = height - EDGE.bottom;
    const steps = width < 330 || this.low < 0.6 ? 0.1 : 0.05;
    const every = this.low < 0.5 ? 0.2 : steps;
    for (let share = this.low; share < 1.001; share += every) {
      const x = this.#x(share);
      add(this.axes, "line", { x1: x, x2: x, y1: EDGE.top, y2: bottom });
      add(this.axes, "text", { x, y: bottom + 13, "text-anchor": "middle" }, format(share, "share", { exact: true }));
    }
    for (const tick of decades(this.range[0], this.range[1])) {
      const y = this.#y(tick);
      add(this.axes, "line", { x1: EDGE.left, x2: width - EDGE.right, y1: y, y2: y });
      add(this.axes, "text", { x: EDGE.left - 5, y: Math.min(y + 4, bottom - 3), "text-anchor": "end" }, format(tick, "s", { exact: true }));
    }
    const words = this.kinds.bandwidth === "goodput_long" ? "Goodput of the long flows, share of the link"
      : "Bandwidth that the port carries, share of the link";
    add(this.axes, "text", { x: (EDGE.left + width - EDGE.right) / 2, y: height - 6, "text-anchor": "middle", class: "name" }, words);
    add(this.axes, "text", { x: width - EDGE.right - 4, y: bottom - 6, "text-anchor": "end", class: "better" }, "better ↘");
  }

  /** @param {Entry} entry @param {number} height */
  #drawTheory(entry, height) {
    const found = this.#predicted(entry);
    if (!found || found.x < this.low || found.x > 1.02) return;
    const x = this.#x(found.x);
    const mark = found.y === null
      ? add(this.theory, "line", { x1: x, x2: x, y1: EDGE.top, y2: height - EDGE.bottom })
      : add(this.theory, "circle", { cx: x, cy: this.#y(found.y), r: 9 });
    mark.style.stroke = `var(--${entry.hue})`;
    add(mark, "title", {}, `${entry.title}, theory`);
  }

  /** @param {Entry} entry */
  #drawTrail({ id, hue }) {
    const list = this.former.get(id) ?? [];
    const now = this.now.get(id);
    const ends = now ? [...list, { x: now.x, y: now.p99 }] : list;
    ends.forEach((end, i) => {
      const age = (i + 1) / (ends.length + 1);
      if (i > 0) {
        const [from, to] = [ends[i - 1], end];
        const line = add(this.trails, "line", { x1: this.#x(from.x), y1: this.#y(from.y), x2: this.#x(to.x), y2: this.#y(to.y) });
        line.style.stroke = `var(--${hue})`;
        line.style.opacity = String(0.6 * age);
      }
      if (i === ends.length - 1 && now) return;
      const dot = add(this.trails, "circle", { cx: this.#x(end.x), cy: this.#y(end.y), r: 3 });
      dot.style.fill = `var(--${hue})`;
      dot.style.opacity = String(0.65 * age);
    });
  }

  /** @param {Entry} entry @param {number} height */
  #drawDot({ id }, height) {
    const { group, dot, line, label, title } = this.marks.get(id);
    const place = this.now.get(id);
    for (const part of [group, label]) part.style.display = place ? "" : "none";
    if (!place) return;
    const [x, y] = [this.#x(place.x), this.#y(place.p99)];
    group.style.transform = `translate(${x.toFixed(1)}px, ${y.toFixed(1)}px)`;
    dot.classList.toggle("unsure", !place.sure);
    const median = Math.min(this.#y(place.p50), height - EDGE.bottom) - y;
    line.setAttribute("d", `M0 6V${median.toFixed(1)}M-5 ${median.toFixed(1)}H5`);
    const short = this.width < 430 ? title.replace("phantom queue", "PQ") : title;
    label.textContent = `${short} ${format(place.x, "share")}, ${format(place.p99, "s")}`;
    label.dataset.x = String(x);
    label.dataset.y = String(y);
  }

  /** Labels beside their dots, none on top of another. @param {number} width @param {number} height */
  #spread(width, height) {
    const labels = [...this.marks.values()].map(({ label }) => label).filter((label) => label.style.display !== "none");
    labels.sort((p, q) => Number(p.dataset.y) - Number(q.dataset.y));
    let above = -Infinity;
    for (const label of labels) {
      const x = Number(label.dataset.x);
      const long = label.getComputedTextLength() + 15;
      const covers = (/** @type {number} */ from) => labels.some((other) => other !== label
        && Math.abs(Number(other.dataset.y) - Number(label.dataset.y)) < 22
        && Number(other.dataset.x) > from - 8 && Number(other.dataset.x) < from + long + 8);
      const right = x + long > width || (covers(x + 9) && x - long > EDGE.left);
      const y = Math.max(Number(label.dataset.y) - 8, above + 14, EDGE.top + 8);
      above = y;
      const fits = !right || x - long > 0;
      label.setAttribute("text-anchor", right && fits ? "end" : "start");
      label.setAttribute("x", String(fits ? x + (right ? -11 : 11) : Math.max(4, width - long)));
      label.setAttribute("y", String(Math.min(y, height - EDGE.bottom - 4)));
    }
  }

  #caption() {
    const { latency, classes } = this.kinds;
    const what = latency === "fct_small" ? classes[0] : "the queue's latency";
    this.note.textContent = `99% (dot) and median (bar) of ${what}`;
    this.note.title = "Hollow dots have fewer than 100 requests or are still warming up. Dashed: theory.";
  }

  /** The text alternative. */
  describe() {
    const text = this.entries.map(({ id, title }) => {
      const place = this.now.get(id);
      if (!place) return `${title}: no value yet`;
      return `${title}: ${format(place.x, "share")} of the link, 99th percentile ${spoken(format(place.p99, "s"))}, `
        + `median ${spoken(format(place.p50, "s"))}`;
    }).join("; ");
    this.scene.setAttribute("aria-label", `Latency against bandwidth: ${this.note.textContent}. ${text}.`);
  }
}

/**
 * Where a scheme stands; null if there is no latency yet.
 * @param {any} stats @param {Kinds} kinds @param {number} rate @param {boolean} warming @returns {Place|null}
 */
export function placeOf(stats, kinds, rate, warming) {
  if (!stats) return null;
  const p99 = stats[`${kinds.latency}_p99`];
  const p50 = stats[`${kinds.latency}_p50`];
  if (p99 === null || p99 === undefined) return null;
  const enough = kinds.latency !== "fct_small" || stats.fct_small_count >= LEAST;
  return { x: stats[kinds.bandwidth] / rate, p50, p99, sure: !warming && enough };
}

/** The next half decade. @param {number} value @param {(x: number) => number} round */
const half = (value, round) => 10 ** (round(2 * Math.log10(value)) / 2);
