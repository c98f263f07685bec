// Lossless: the drawn network with pauses: two switches, an incast, a victim, once for each scheme.

import { add, clear } from "./svg.js";
import { shortTitle } from "./model.js";
import { format, spoken } from "./units.js";

const HOST = { widest: 84, share: 0.15, height: 22 };
const SWITCH = 30;
const RECENT = 24; // samples: 0.12 s of the clock

/**
 * @typedef {import("./side.js").Side} Side
 * @typedef {{name: string, from: RegExp, to: string, d: string, at: [number, number]}} Wire one or several links, all of
 *   which wait in this direction
 */

/** The share of the last samples for which the links of a wire were paused, and since the start. @param {Side} side
 * @param {RegExp} from @param {string} to @param {number} shown @returns {{now: number, all: number}} */
function paused(side, from, to, shown) {
  const links = side.pausedLinks().filter((link) => from.test(link.from) && link.to === to);
  const at = side.trace.at(shown);
  if (!links.length || at < 0) return { now: 0, all: 0 };
  const span = { start: Math.max(side.trace.start, at - RECENT), end: at + 1 };
  const sum = (/** @type {number[]} */ values) => values.reduce((a, b) => a + b, 0);
  return {
    now: sum(links.map((link) => side.trace.mean(link.column, span) ?? 0)) / links.length,
    all: Math.max(...links.map((link) => link.time)) / Math.max(side.reached, 1e-12),
  };
}

export class Lossless {
  /** @param {SVGElement} svg */
  constructor(svg) {
    this.svg = svg;
    this.key = "";
    /** @type {any[]} */
    this.lanes = [];
    this.flow = 0;
    this.text = "";
  }

  /** One picture. @param {Side[]} sides @param {{flows: number, rate: number}} setting @param {number} shown until when
   * @param {{queue: number, phantom: number}} tops @param {{width: number, height: number, still: boolean}} scene */
  draw(sides, setting, shown, tops, { width, height, still }) {
    const key = [width, height, setting.flows, ...sides.map((side) => `${side.title}${side.hue}${side.trace.seen.has("phantom")}`)].join();
    if (key !== this.key) { this.key = key; this.#build(sides, setting.flows, width, height); }
    if (!still) this.flow = (this.flow - 1.5) % 24;
    this.text = sides.map((side, i) => this.#fill(this.lanes[i], side, shown, tops)).join("; ");
  }

  /** @param {Side[]} sides @param {number} flows @param {number} width @param {number} height */
  #build(sides, flows, width, height) {
    clear(this.svg);
    this.svg.setAttribute("viewBox", `0 0 ${width} ${height}`);
    const tall = height / sides.length;
    this.lanes = sides.map((side, i) => this.#lane(side, flows, width, i * tall, tall));
  }

  /** @param {Side} side @param {number} flows @param {number} width @param {number} top @param {number} tall */
  #lane(side, flows, width, top, tall) {
    const host = Math.min(HOST.widest, width * HOST.share);
    const high = top + 16 + (tall - 16) * 0.24;
    const low = top + 16 + (tall - 16) * 0.78;
    const x = { left: 4 + host, s0: width * 0.27, s1: width * 0.63, right: width - host - 4 };
    const title = add(this.svg, "text", { class: "lane", x: 4, y: top + 13 }, shortTitle(side.title));
    title.style.fill = `var(--${side.hue}-text, var(--text))`;
    const first = Math.ceil(flows / 2);
    const last = flows - first;
    const wires = [
      { name: "the victim", from: /^h1$/, to: "s0", d: `M${x.left} ${high}H${x.s0}`, at: [(x.left + x.s0) / 2, high] },
      { name: "senders at s0", from: /^h(?!1$)/, to: "s0", d: `M${x.left} ${low}H${x.s0}`, at: [(x.left + x.s0) / 2, low] },
      { name: "the link from s0 to s1", from: /^s0$/, to: "s1", d: `M${x.s0 + SWITCH} ${high}H${x.s1}`,
        at: [(x.s0 + SWITCH + x.s1) / 2, high] },
      { name: "senders at s1", from: /^h/, to: "s1", d: `M${x.s0 + SWITCH + 8 + host} ${low}H${x.s1}`,
        at: [(x.s0 + SWITCH + 8 + host + x.s1) / 2, low] },
    ].filter((wire) => !wire.name.startsWith("senders") || (wire.to === "s0" ? first : last)).map((wire) => ({
      ...wire,
      line: add(this.svg, "path", { class: "wire", d: wire.d }),
      waits: add(this.svg, "path", { class: "waits", d: wire.d }),
      label: add(this.svg, "text", { class: "kind", x: wire.at[0], y: wire.at[1] - 9, "text-anchor": "middle" }),
    }));
    const out = [high, low].map((y) => add(this.svg, "path", { class: "wire", d: `M${x.s1 + SWITCH} ${y}H${x.right}` }));
    this.#box(4, high, host, "victim");
    if (first) this.#box(4, low, host, first > 1 ? `${first} senders` : "sender");
    if (last) this.#box(x.s0 + SWITCH + 8, low, host, last > 1 ? `${last} senders` : "sender");
    for (const [name, at] of /** @type {[string, number][]} */ ([["s0", x.s0], ["s1", x.s1]])) {
      const y = top + 18;
      add(this.svg, "rect", { class: "box", x: at, y, width: SWITCH, height: tall - 22, rx: 5 });
      add(this.svg, "text", { class: "host", x: at + SWITCH / 2, y: y + 12, "text-anchor": "middle" }, name);
    }
    this.#box(x.right, high, host, "h2");
    this.#box(x.right, low, host, "h0");
    const number = (/** @type {number} */ y) => add(this.svg, "text",
      { class: "kind", x: (x.s1 + SWITCH + x.right) / 2, y: y - 6, "text-anchor": "middle" });
    // The queues of the port to host 0 stand in the switch, from its bottom up.
    const bar = (/** @type {number} */ at, /** @type {string} */ kind) => {
      add(this.svg, "rect", { class: `trough ${kind}`, x: at, y: high, width: 9, height: low - high, rx: 2 });
      const fill = add(this.svg, "rect", { x: at, y: low, width: 9, height: 0, rx: 2 });
      fill.style.fill = `var(--${side.hue})`;
      if (kind === "phantom") fill.style.opacity = "0.55";
      return fill;
    };
    const phantom = side.trace.seen.has("phantom");
    return {
      wires, out, victim: number(high), carried: number(low), high, low,
      queue: bar(x.s1 + (phantom ? 4 : 11), "queue"), phantom: phantom ? bar(x.s1 + 17, "phantom") : null,
      size: add(this.svg, "text", { class: "kind", x: (x.s1 + SWITCH + x.right) / 2, y: low + 13, "text-anchor": "middle" }),
    };
  }

  /** @param {number} x @param {number} y middle @param {number} wide @param {string} name */
  #box(x, y, wide, name) {
    add(this.svg, "rect", { class: "box", x, y: y - HOST.height / 2, width: wide, height: HOST.height, rx: 5 });
    add(this.svg, "text", { class: "host", x: x + wide / 2, y: y + 4, "text-anchor": "middle" }, name);
  }

  /** @param {any} lane @param {Side} side @param {number} shown @param {{queue: number, phantom: number}} tops */
  #fill(lane, side, shown, tops) {
    const at = side.trace.at(shown);
    const value = (/** @type {string} */ name) => (at < 0 ? NaN : side.trace.columns[name][at]);
    for (const line of lane.out) line.style.strokeDashoffset = `${this.flow}px`;
    const waiting = [];
    for (const wire of lane.wires) {
      const { now, all } = paused(side, wire.from, wire.to, shown);
      wire.line.style.strokeDashoffset = `${now > 0.98 ? 0 : this.flow}px`;
      wire.waits.style.opacity = now > 0 ? String(0.25 + 0.75 * Math.min(1, now)) : "0";
      write(wire.label, all > 0 ? format(all, "share", { digits: 2 }) : "");
      if (all > 0) waiting.push(`${wire.name} paused ${format(all, "share", { digits: 2 })} of the time`);
    }
    level(lane.queue, value("queue"), tops.queue, lane);
    if (lane.phantom) level(lane.phantom, value("phantom"), tops.phantom, lane);
    const victim = format(value("rate0"), "bit/s", { digits: 2 });
    const carried = format(value("throughput"), "bit/s", { digits: 2 });
    write(lane.victim, victim);
    write(lane.carried, carried);
    write(lane.size, `queue ${format(value("queue"), "bytes")}`);
    return `${side.title}: victim ${spoken(victim)}, ${spoken(carried)} to host 0, ${waiting.join(", ") || "no pauses"}`;
  }
}

/** @param {SVGElement} text @param {string} words */
function write(text, words) {
  if (text.textContent !== words) text.textContent = words;
}

/** @param {SVGElement} bar @param {number} bytes @param {number} top @param {{high: number, low: number}} lane */
function level(bar, bytes, top, { high, low }) {
  const tall = (low - high) * Math.min(1, (bytes || 0) / top);
  bar.setAttribute("y", (low - tall).toFixed(1));
  bar.setAttribute("height", tall.toFixed(1));
}
