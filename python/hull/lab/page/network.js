// Network: the drawn network of a run: senders and their windows, the switch with the queues of its port, receiver.

import { Lossless } from "./lossless.js";
import { add, clear, element } from "./svg.js";
import { shortTitle } from "./model.js";
import { FLOWS } from "./trace.js";
import { format, spoken } from "./units.js";

const HOST = { wide: 74, narrow: 62, height: 26 };
const NARROW = 430; // px of a drawing
const BAR = 9; // height of a queue

/**
 * @typedef {{title: string, hue: string, scheme: string, own: boolean, queue: number|null, phantom: number|null,
 *   windows: (number|null)[], throughput: number|null}} Lane what one scheme has now
 * @typedef {{flows: number, load: number, rate: number, k: number, threshold: number, speed: number}} Setting
 */

export class Network {
  /** @param {HTMLElement} place a figure with .scene */
  constructor(place) {
    this.scene = /** @type {HTMLElement} */ (place.querySelector(".scene"));
    this.note = /** @type {HTMLElement} */ (place.querySelector(".note"));
    this.svg = element("svg", {});
    this.scene.append(this.svg);
    this.lossless = new Lossless(this.svg);
    /** @type {any[]} */
    this.lanes = [];
    /** @type {any[]} */
    this.windows = [];
    this.host = HOST.wide;
    this.flow = 0;
    this.key = "";
    this.text = "";
    this.still = matchMedia("(prefers-reduced-motion: reduce)");
    new ResizeObserver(() => { this.key = ""; }).observe(this.scene);
  }

  /**
   * One picture of the network with pauses.
   * @param {import("./side.js").Side[]} sides @param {Record<string, number>} setting @param {number} shown until when
   * @param {{queue: number, phantom: number}} tops
   */
  drawLossless(sides, setting, shown, tops) {
    this.key = "";
    this.#say(setting.speed, "hatched: waits, with its share of the time so far");
    const scene = { width: Math.max(260, this.scene.clientWidth), height: Math.max(150, this.scene.clientHeight),
      still: this.still.matches };
    this.lossless.draw(sides, { flows: setting.flows, rate: setting.rate }, shown, tops, scene);
    this.text = this.lossless.text;
  }

  /** @param {number} speed @param {string} legend */
  #say(speed, legend) {
    const pace = `${format(speed, "s", { exact: true })} per second on the clock; ${legend}`;
    if (this.note.textContent !== pace) this.note.textContent = pace;
  }

  /**
   * One picture.
   * @param {Lane[]} lanes @param {Setting} setting @param {{queue: number, phantom: number, window: number}} tops
   * @param {string} own what the user's network is, if that runs
   */
  draw(lanes, setting, tops, own) {
    const width = Math.max(260, this.scene.clientWidth);
    const height = Math.max(150, this.scene.clientHeight);
    const shape = [width, height, own, windowed(lanes), setting.flows, setting.load > 0, ...lanes.map((lane) => `${lane.title}${lane.hue}${lane.phantom === null}`)].join();
    this.#say(setting.speed, "tick: marks from there");
    if (shape !== this.key) { this.key = shape; this.lossless.key = ""; this.#build(lanes, setting, own, width, height); }
    lanes.forEach((lane, i) => this.#fill(this.lanes[i], lane, setting, tops));
    lanes.forEach((lane, i) => lane.windows.forEach((window, flow) => {
      const bar = this.windows[flow]?.[i];
      bar?.setAttribute("width", String(Math.round((this.host - 8) * Math.min(1, (window ?? 0) / tops.window))));
    }));
    const carried = Math.max(0, ...lanes.map((lane) => lane.throughput ?? 0)) / setting.rate;
    if (!this.still.matches) this.flow = (this.flow - 2.5 * carried) % 24;
    for (const line of this.links) line.style.strokeDashoffset = `${this.flow}px`;
    this.text = lanes.map((lane) => `${lane.title}: queue ${spoken(format(lane.queue, "bytes"))}`
      + `${lane.phantom === null ? "" : `, phantom queue ${spoken(format(lane.phantom, "bytes"))}`}`
      + `, ${spoken(format(lane.throughput, "bit/s"))} to the receiver`).join("; ");
  }

  /** @param {Lane[]} lanes @param {Setting} setting @param {string} own @param {number} width @param {number} height */
  #build(lanes, setting, own, width, height) {
    clear(this.svg);
    this.svg.setAttribute("viewBox", `0 0 ${width} ${height}`);
    const wires = add(this.svg, "g", { class: "wires" });
    const middle = height / 2;
    const host = width < NARROW ? HOST.narrow : HOST.wide;
    this.host = host;
    const space = width < NARROW ? 20 : 32;
    const box = { left: host + space, right: width - host - space };
    const shown = own ? windowed(lanes) : Math.min(setting.flows, FLOWS);
    const names = Array.from({ length: shown }, (_, i) => `flow ${i + 1}`);
    if (!own && setting.flows > shown) names.push(`${setting.flows - shown} more flows`);
    if (own) names.push("other hosts");
    else if (setting.load > 0) names.push("8 servers");
    const gap = Math.min(height / Math.max(names.length, 1), HOST.height + 16);
    this.windows = [];
    this.links = names.map((name, i) => {
      const y = middle + (i - (names.length - 1) / 2) * gap;
      const lines = name.startsWith("flow ") ? lanes : [];
      this.#draw(4, y, name);
      this.windows.push(lines.map((lane, row) => {
        const bar = add(this.svg, "rect", { class: "window", x: 8, y: y + 2 + row * 5, width: 0, height: 4 });
        bar.style.fill = `var(--${lane.hue})`;
        return bar;
      }));
      return add(wires, "path", { d: `M${4 + host} ${y}C${box.left - 12} ${y} ${box.left - 16} ${middle} ${box.left} ${middle}` });
    });
    this.links.push(add(wires, "path", { d: `M${box.right} ${middle}H${width - host - 4}` }));
    this.#draw(width - host - 4, middle, own ? "host 0" : "receiver");
    const rows = lanes.reduce((sum, lane) => sum + (lane.phantom === null ? 2 : 3), 0);
    const line = Math.min(22, (height - 30) / Math.max(rows, 1));
    const tall = rows * line + 22;
    add(this.svg, "rect", { class: "box", x: box.left, y: middle - tall / 2, width: box.right - box.left, height: tall, rx: 7 });
    add(this.svg, "text", { class: "name", x: box.left + 8, y: middle - tall / 2 + 14 }, own && width > 450 ? `${own}: port to host 0` : `switch: port to ${own ? "host 0" : "the receiver"}`);
    let y = middle - tall / 2 + 20;
    this.lanes = lanes.map((lane) => {
      const title = add(this.svg, "text", { class: "lane", x: box.left + 8, y: y + line * 0.62 },
        width < NARROW ? shortTitle(lane.title).replace("phantom queue", "PQ") : shortTitle(lane.title));
      title.style.fill = `var(--${lane.hue}-text, var(--text))`;
      const rate = add(this.svg, "text", { class: "value", x: box.right - 8, y: y + line * 0.62, "text-anchor": "end" });
      const queue = this.#queue(box, y + line, line, "queue", lane.hue);
      const phantom = lane.phantom === null ? null : this.#queue(box, y + 2 * line, line, "phantom", lane.hue);
      y += (phantom ? 3 : 2) * line;
      return { rate, queue, phantom };
    });
  }

  /** @param {number} x @param {number} y middle @param {string} name */
  #draw(x, y, name) {
    add(this.svg, "rect", { class: "box", x, y: y - HOST.height / 2, width: this.host, height: HOST.height, rx: 5 });
    const low = name.startsWith("flow ");
    add(this.svg, "text", { class: "host", x: x + this.host / 2, y: low ? y - 2 : y + 4, "text-anchor": "middle" }, name);
  }

  /** @param {{left: number, right: number}} box @param {number} y @param {number} line @param {string} kind @param {string} hue */
  #queue(box, y, line, kind, hue) {
    const left = box.left + 58;
    const wide = Math.max(30, box.right - left - 62);
    const top = y + (line - BAR) / 2 - 2;
    add(this.svg, "text", { class: "kind", x: box.left + 8, y: top + 8 }, kind);
    add(this.svg, "rect", { class: `trough ${kind}`, x: left, y: top, width: wide, height: BAR, rx: 2 });
    const fill = add(this.svg, "rect", { x: left, y: top, width: 0, height: BAR, rx: 2 });
    fill.style.fill = `var(--${hue})`;
    if (kind === "phantom") fill.style.opacity = "0.55";
    const tick = add(this.svg, "path", { class: "tick" });
    const value = add(this.svg, "text", { class: "value", x: box.right - 8, y: top + 8, "text-anchor": "end" });
    return { fill, tick, value, left, wide, top };
  }

  /** @param {any} drawn @param {Lane} lane @param {Setting} setting @param {{queue: number, phantom: number}} tops */
  #fill(drawn, lane, setting, tops) {
    const marks = !lane.own && /^dctcp$|_ecn$/.test(lane.scheme) ? setting.k : null;
    level(drawn.queue, lane.queue, tops.queue, marks);
    if (drawn.phantom) level(drawn.phantom, lane.phantom, tops.phantom, setting.threshold);
    const text = format(lane.throughput, "bit/s");
    if (drawn.rate.textContent !== text) drawn.rate.textContent = text;
  }

  describe() {
    this.scene.setAttribute("aria-label", `Network: hosts send through ${this.key ? "a switch" : "two switches"} to one receiver. ${this.text}.`);
  }
}

/** How many flows have a window. @param {Lane[]} lanes */
const windowed = (lanes) => Math.max(0, ...lanes.map((lane) => lane.windows.filter((window) => window !== null).length));

/** @param {any} bar @param {number|null} bytes @param {number} top @param {number|null} mark from where packets are marked */
function level({ fill, tick, value, left, wide, top: y }, bytes, top, mark) {
  fill.setAttribute("width", (wide * Math.min(1, (bytes ?? 0) / top)).toFixed(1));
  const text = format(bytes, "bytes");
  if (value.textContent !== text) value.textContent = text;
  const seen = mark !== null && mark <= top;
  tick.setAttribute("d", seen ? `M${(left + (wide * mark) / top).toFixed(1)} ${y - 2}v${BAR + 4}` : "");
}
