// Board: all charts and numbers, drawn once per frame of the screen.

import { CdfChart, percentiles } from "./cdfchart.js";
import { Pauses } from "./pauses.js";
import { Readout } from "./readout.js";
import { Scale } from "./scale.js";
import { Stage } from "./stage.js";
import { QUANTITIES, Side, leftOut } from "./side.js";
import { colours, hues } from "./theme.js";
import { inChart, inFull, inWords, predictions, whyNone } from "./theory.js";
import { schemeOf } from "./model.js";

export const SECONDS = 4; // of the wall clock that the charts show
const LONG = 5; // s of the wall clock
const TEXT_MS = 250;
const SPOKEN_MS = 2000;
const REDUCED_MS = 200;

/** @typedef {import("./model.js").Model} Model */

export class Board {
  /** @param {Model} model @param {HTMLElement} charts @param {HTMLElement} readout @param {HTMLElement} stage
   * @param {HTMLElement} pauses */
  constructor(model, charts, readout, stage, pauses) {
    this.model = model;
    this.stage = new Stage(model, stage);
    /** @type {string[]} names of sizes whose completion times are told */
    this.classes = [];
    this.place = charts;
    this.palette = colours();
    const palette = () => this.palette;
    this.readout = new Readout(readout);
    this.pauses = new Pauses(pauses, palette);
    this.sides = [new Side(charts, palette), new Side(charts, palette)];
    for (const chart of this.allCharts) chart.figure.element.hidden = leftOut(chart.quantity.id, this.sides);
    this.cdf = new CdfChart(charts, "Queueing latency, CDF", palette);
    this.ordered = "";
    this.order([]);
    this.scales = QUANTITIES.map(({ id }) => new Scale(
      id === "alpha" ? { least: 0.1, floor: 0.001, most: 1 }
        : id === "window" ? { least: 4, floor: 1 } : id === "paused" ? { least: 1, floor: 0.01 } : { least: 2000, floor: 100 }));
    this.count = 2;
    this.log = false;
    this.speed = 0.02;
    this.rate = 1e9;
    this.warmup = 0;
    this.reached = 0;
    this.shown = 0;
    this.generation = 0;
    /** @type {any} */
    this.coming = null;
    this.dirty = true;
    this.drawnAt = 0;
    this.textAt = 0;
    this.spokenAt = -SPOKEN_MS;
    this.first = false;
    this.still = matchMedia("(prefers-reduced-motion: reduce)");
    this.paused = false;
    new ResizeObserver(() => this.resize()).observe(charts);
    // What is out of sight is drawn now and then only: it may come into sight, or onto paper.
    const sight = new IntersectionObserver((entries) => {
      for (const entry of entries) {
        for (const chart of [...this.allCharts, this.cdf]) {
          if (chart.figure.element === entry.target) chart.figure.inSight = entry.isIntersecting;
        }
      }
      this.dirty = true;
    }, { rootMargin: "100px" });
    for (const chart of [...this.allCharts, this.cdf]) sight.observe(chart.figure.element);
    const loop = (/** @type {number} */ now) => { this.#frame(now); requestAnimationFrame(loop); };
    requestAnimationFrame(loop);
  }

  /** Whether statistics count from the start still; they begin again after the warm-up. */
  get warming() { return this.reached < this.warmup; }

  /** Whether that takes so long that it should be said. */
  get slow() { return this.warming && this.warmup > LONG * this.speed; }

  get allCharts() { return this.sides.flatMap((side) => side.charts); }

  /** Which charts come first. @param {string[]} first names of quantities, or latency */
  order(first) {
    const ids = [...new Set([...first, ...QUANTITIES.map(({ id }) => id), "latency"])];
    if (this.ordered === ids.join()) return;
    this.ordered = ids.join();
    for (const id of ids) {
      const i = QUANTITIES.findIndex((quantity) => quantity.id === id);
      // Side by side: A's and B's charts of one quantity follow each other.
      const figures = i < 0 ? [this.cdf.figure] : this.sides.map((side) => side.charts[i].figure);
      this.place.append(...figures.map((figure) => figure.element));
    }
    this.dirty = true;
  }

  resize() {
    for (const chart of [...this.allCharts, this.cdf]) if (!chart.figure.element.hidden) chart.resize();
    this.dirty = true;
  }

  recolour() { this.palette = colours(); this.dirty = true; }

  /** @param {boolean} log */
  setLog(log) {
    this.log = log;
    for (const side of this.sides) for (const chart of side.charts.slice(0, 2)) chart.setLog(log);
    this.cdf.setLog(log);
    this.dirty = true;
  }

  /** @param {any} message begin @param {Record<string, number>} values what the page asked for */
  begin(message, values) {
    this.coming = { ...message, values: { ...values } };
  }

  /** @param {any} message frame */
  frame(message) {
    if (this.coming && message.generation === this.coming.generation) this.#switch();
    if (message.generation !== this.generation) return;
    this.reached = message.t;
    message.schemes.forEach((/** @type {any} */ part, /** @type {number} */ i) => this.sides[i].push(part, message.t));
    this.stage.frame(message);
    if (this.first) {
      for (const side of this.sides) side.showNotes();
      const shown = this.sides.slice(0, this.count);
      const out = QUANTITIES.map(({ id }) => leftOut(id, shown));
      this.sides.forEach(({ charts }, i) => charts.forEach((chart, row) => { chart.figure.element.hidden = out[row] || i >= this.count; }));
      this.readout.showPauses(shown.some((side) => side.latest?.pauses),
        shown.some((side) => schemeOf(this.model, side.scheme)?.lossless ?? false));
      this.resize();
    }
    this.dirty = true;
  }

  /** The first frame of a new generation has come. */
  #switch() {
    const { generation, schemes, theory, values, warmup } = this.coming;
    const from = this.#from();
    const length = this.sides[0].trace.last - from;
    const enough = length > 0.6 * SECONDS * this.speed;
    this.stage.begin(this.coming, values);
    this.classes = this.coming.classes;
    this.readout.showClasses(this.classes);
    this.pauses.begin();
    this.coming = null;
    this.generation = generation;
    const names = hues(schemes);
    this.count = schemes.length;
    this.place.classList.toggle("two", this.count === 2);
    this.speed = values.speed ?? this.speed;
    this.rate = values.rate ?? this.rate;
    this.warmup = warmup ?? 0;
    this.cdf.lines = [];
    const words = /** @type {string[]} */ ([]);
    const full = /** @type {import("./theory.js").Prediction[]} */ ([]);
    let why = "";
    this.sides.forEach((side, i) => {
      const id = schemes[i];
      // The first frame shows those that its networks have.
      if (!id) for (const chart of side.charts) chart.figure.element.hidden = true;
      if (!id) { side.trace.clear(); side.older.clear(); side.latest = null; return; }
      const list = predictions(theory, i);
      const title = schemeOf(this.model, id)?.title ?? id;
      side.restart({ scheme: id, title, hue: names[i] }, from, enough, list, values);
      const drawn = inChart(list, "latency");
      why ||= whyNone(list, "latency");
      for (const p of drawn) {
        this.cdf.lines.push({ value: /** @type {number} */ (p.value), hue: names[i],
          label: `${this.count > 1 ? `${title}: ` : ""}${p.label}` });
      }
      full.push(...drawn);
      if (drawn.length) words.push(`${this.count > 1 ? `${title}: ` : ""}${inWords(drawn).replace("Theory: ", "")}`);
    });
    this.cdf.hues = names;
    this.cdf.figure.showTheory(words.length ? `Theory: ${words.join("; ")}` : inWords([], why), words.length > 0, inFull(full));
    this.cdf.figure.showLegend(this.sides.slice(0, this.count));
    this.resize();
    this.shown = 0;
    this.first = true;
    this.textAt = 0;
  }

  /** Start of the window shown. */
  #from() { return Math.max(0, this.shown - SECONDS * this.speed); }

  /** @param {number} now */
  #frame(now) {
    const elapsed = Math.min(100, now - this.drawnAt);
    if (this.still.matches && now - this.drawnAt < REDUCED_MS) return;
    const last = Math.max(...this.sides.slice(0, this.count).map((side) => side.trace.last));
    const behind = last - this.shown;
    if (!this.dirty && behind <= 0) return;
    // A steady clock: frames come unevenly, the window scrolls evenly.
    const pace = (elapsed / 1000) * this.speed;
    const jump = this.paused || this.still.matches || behind > this.speed * 0.5 || behind < 0;
    this.shown = jump ? last : Math.min(last, this.shown + pace * 0.9 + behind * 0.1);
    this.dirty = false;
    this.drawnAt = now;
    const texts = now - this.textAt > TEXT_MS;
    this.#draw(now, texts);
    if (!this.generation) return;
    if (this.first && this.sides[0].trace.length) {
      this.first = false;
      performance.mark(`lab-generation-${this.generation}`);
    }
    this.stage.draw(now, this.sides.slice(0, this.count), this.shown, this.warming, this.scales);
    if (texts) { this.textAt = now; this.#texts(); }
    if (now - this.spokenAt > SPOKEN_MS) { this.spokenAt = now; this.#describe(); }
  }

  /** @param {number} now @param {boolean} all also what is out of sight */
  #draw(now, all) {
    const from = this.#from();
    const times = /** @type {[number, number]} */ ([from, from + SECONDS * this.speed]);
    const sides = this.sides.slice(0, this.count);
    QUANTITIES.forEach(({ id, columns }, i) => {
      const scale = this.scales[i];
      let high = 0;
      for (const side of sides) {
        const span = side.trace.since(from);
        for (const name of columns) high = Math.max(high, side.trace.most(name, span));
        for (const line of side.charts[i].lines) high = Math.max(high, line.value);
        // A threshold that is far above what happens is not worth flattening it.
        for (const line of side.charts[i].marks) if (line.value < 3 * high) high = Math.max(high, line.value);
      }
      scale.fit(high, now);
      const ofRate = id === "throughput" || id === "rate";
      const values = /** @type {[number, number]} */ (ofRate ? [0, this.rate * 1.12]
        : scale.range(this.log && i < 2));
      for (const side of sides) {
        const chart = side.charts[i];
        if (chart.figure.element.hidden || (!all && !chart.figure.inSight)) continue;
        const age = side.trace.last;
        chart.older = side.older.length && age < times[1]
          ? { trace: side.older, shift: side.olderStart, from: Math.max(age, from) } : null;
        chart.draw(side.trace, side.trace.since(from), times, values, ofRate ? this.rate : values[1]);
      }
    });
    this.pauses.draw(now, sides, times);
    if (all || this.cdf.figure.inSight) this.cdf.draw(sides.map((side) => side.latest?.latency ?? null));
  }

  #texts() {
    const from = this.#from();
    this.sides.forEach((side, i) => {
      const shown = i < this.count;
      this.readout.show(i, shown ? side : null, side.latest?.stats, side.predictions);
      if (!shown) return;
      for (const chart of side.charts) chart.figure.showValue(side.reading(chart, from));
    });
    this.cdf.figure.showValue(this.sides.slice(0, this.count)
      .map((side) => (this.count > 1 ? `${side.title} ${percentiles(side.latest?.stats, [99])}`
        : percentiles(side.latest?.stats, [50, 99]))).join("; "));
  }

  /** The text alternatives of the charts. */
  #describe() {
    const from = this.#from();
    for (const side of this.sides.slice(0, this.count)) {
      for (const chart of side.charts) {
        const { figure } = chart;
        const reading = side.reading(chart, from) || "nothing";
        figure.describe(`${chart.quantity.title} of ${side.title} over time: ${reading}. ${figure.theory.textContent}.`);
      }
    }
    this.stage.describe();
    const { figure } = this.cdf;
    figure.describe(`Latency: ${figure.value.textContent}. ${figure.theory.textContent}.`);
  }
}

