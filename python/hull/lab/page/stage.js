// Stage: what stays in view while you drag: the plane and the drawn network, told and drawn together.

import { Network } from "./network.js";
import { Plane } from "./plane.js";
import { schemeOf } from "./model.js";
import { hues } from "./theme.js";
import { predictions } from "./theory.js";
import { FLOWS } from "./trace.js";

const PLANE_MS = 100;
const NETWORK_MS = 40;

/** @typedef {import("./side.js").Side} Side */

export class Stage {
  /** @param {import("./model.js").Model} model @param {HTMLElement} place with #plane and #network */
  constructor(model, place) {
    this.model = model;
    this.plane = new Plane(/** @type {HTMLElement} */ (place.querySelector("#plane")));
    this.network = new Network(/** @type {HTMLElement} */ (place.querySelector("#network")));
    /** @type {import("./plane.js").Entry[]} */
    this.entries = [];
    /** @type {Record<string, any>} */
    this.values = {};
    this.planeAt = 0;
    this.networkAt = 0;
    this.own = "";
    this.lossless = false;
  }

  /** A run begins. @param {any} message begin @param {Record<string, number>} values */
  begin(message, values) {
    const ids = [...message.schemes, ...message.more];
    const colours = hues(ids);
    this.values = values;
    this.entries = ids.map((id, i) => ({
      id, title: schemeOf(this.model, id)?.title ?? id, hue: colours[i], stats: null,
      predictions: i < message.schemes.length ? predictions(message.theory, i)
        : predictions({ schemes: message.theory.more }, i - message.schemes.length),
    }));
    this.lossless = message.schemes.every((/** @type {string} */ id) => schemeOf(this.model, id)?.lossless);
    this.own = schemeOf(this.model, ids[0])?.own ? this.model.own?.network ?? "" : "";
    const { bandwidth, latency, classes } = message;
    this.plane.begin({ bandwidth, latency, classes }, this.entries, values);
    this.planeAt = 0;
  }

  /** @param {any} message frame */
  frame(message) {
    [...message.schemes, ...message.more].forEach((part, i) => { if (this.entries[i]) this.entries[i].stats = part.stats; });
  }

  /** @param {number} now ms @param {Side[]} sides @param {number} shown until when @param {boolean} warming
   * @param {import("./scale.js").Scale[]} scales of queue, phantom queue and window */
  draw(now, sides, shown, warming, scales) {
    if (now - this.planeAt >= PLANE_MS) {
      this.planeAt = now;
      this.plane.show(this.entries, warming);
    }
    if (now - this.networkAt < NETWORK_MS) return;
    this.networkAt = now;
    const [queue, phantom, window] = scales.map((scale) => scale.high);
    if (this.lossless) {
      this.network.drawLossless(sides, this.values, shown, { queue, phantom });
      return;
    }
    const lanes = sides.map((side) => {
      const at = side.trace.at(shown);
      const value = (/** @type {string} */ name) => (at < 0 || Number.isNaN(side.trace.columns[name][at])
        ? null : side.trace.columns[name][at]);
      return {
        title: side.title, hue: side.hue, scheme: side.scheme, own: Boolean(schemeOf(this.model, side.scheme)?.own),
        queue: value("queue"), phantom: side.trace.seen.has("phantom") ? value("phantom") ?? 0 : null,
        windows: Array.from({ length: FLOWS }, (_, i) => value(`cwnd${i}`)), throughput: value("throughput"),
      };
    });
    const { flows, load, rate, k, threshold, speed } = this.values;
    this.network.draw(lanes, { flows, load, rate, k, threshold, speed }, { queue, phantom, window }, this.own);
  }

  describe() {
    this.plane.describe();
    this.network.describe();
  }
}
