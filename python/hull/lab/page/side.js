// Side: one of the two schemes: its samples, the previous samples, its charts and predictions.

import { TimeChart } from "./timechart.js";
import { FLOWS, Trace, columnOf } from "./trace.js";
import { inChart, inFull, inWords, whyNone } from "./theory.js";
import { format } from "./units.js";

const each = (/** @type {string} */ name) => Array.from({ length: FLOWS }, (_, i) => `${name}${i}`);

/** @type {import("./timechart.js").Quantity[]} what is drawn over time */
export const QUANTITIES = [
  { id: "queue", title: "Queue", unit: "bytes", columns: ["queue"], fill: true, noneText: "" },
  { id: "phantom", title: "Phantom queue", unit: "bytes", columns: ["phantom"], fill: true,
    noneText: "has no phantom queue." },
  { id: "window", title: "Windows, packets", unit: "packets", columns: each("cwnd"), fill: false,
    noneText: "has no long flows here; drag their number up." },
  { id: "alpha", title: "Alpha, share of marks", unit: "number", columns: each("alpha"), fill: false,
    noneText: "keeps no alpha." },
  { id: "throughput", title: "Throughput, all flows", unit: "bit/s", columns: ["throughput"], fill: true, noneText: "" },
  { id: "rate", title: "Rates of the first flows", unit: "bit/s", columns: each("rate"), fill: false, noneText: "has no pauses." },
  { id: "paused", title: "Paused links", unit: "number", columns: ["paused"], fill: true, noneText: "has no pauses." },
];

/** Charts that only networks with pauses have, and those that need not say that they are empty there. */
const OF_PAUSES = ["rate", "paused"];
const NOT_OF_PAUSES = ["window", "alpha"];

/** Whether a row of charts is left out: no phantom queue or no pauses anywhere. @param {string} id of a quantity
 * @param {Side[]} sides */
export function leftOut(id, sides) {
  const { columns } = /** @type {import("./timechart.js").Quantity} */ (QUANTITIES.find((quantity) => quantity.id === id));
  const seen = sides.some((side) => columns.some((name) => side.trace.seen.has(name)));
  const pauses = sides.some((side) => side.latest?.pauses);
  return !seen && (id === "phantom" || OF_PAUSES.includes(id) || (pauses && NOT_OF_PAUSES.includes(id)));
}

export class Side {
  /** @param {Element} place @param {() => Record<string, string>} colours */
  constructor(place, colours) {
    this.trace = new Trace();
    this.older = new Trace();
    this.olderStart = 0;
    /** @type {any} */
    this.latest = null;
    this.reached = 0; // s
    /** @type {import("./theory.js").Prediction[]} */
    this.predictions = [];
    this.scheme = "";
    this.title = "";
    this.hue = "blue";
    this.charts = QUANTITIES.map((quantity) => new TimeChart(place, quantity, colours));
  }

  /**
   * A new generation begins: what is shown becomes "before", unless it was hardly anything.
   * @param {{scheme: string, title: string, hue: string}} next @param {number} from start of the window shown
   * @param {boolean} enough whether there was something to see
   * @param {import("./theory.js").Prediction[]} predictions @param {Record<string, number>} values
   */
  restart(next, from, enough, predictions, values) {
    if (this.scheme !== next.scheme) this.older.clear();
    if (enough) {
      this.older.copy(this.trace);
      this.olderStart = from;
    }
    this.trace.clear();
    this.latest = null;
    this.predictions = predictions;
    this.scheme = next.scheme;
    this.title = next.title;
    this.hue = next.hue;
    for (const chart of this.charts) {
      const { id, title } = chart.quantity;
      chart.hue = next.hue;
      chart.figure.showTitle(title, next.title, next.hue);
      const drawn = inChart(predictions, id);
      chart.lines = drawn.map((p) => ({ value: /** @type {number} */ (p.value), label: p.label }));
      chart.figure.showTheory(inWords(drawn, whyNone(predictions, id)), drawn.length > 0, inFull(drawn));
      chart.marks = this.#settings(id, values);
    }
  }

  /** Dotted lines for what is set, not predicted. @param {string} chart @param {Record<string, number>} values */
  #settings(chart, values) {
    const line = (/** @type {string} */ key, /** @type {string} */ words) => (values[key] > 0
      ? [{ value: values[key], label: `${words} ${format(values[key], "bytes", { exact: true })}` }] : []);
    if (chart === "phantom") return line("threshold", "marks from");
    if (chart === "queue" && /^dctcp(_\d+k)?$|^dcqcn$|_ecn$/.test(this.scheme)) return line("k", "marks from");
    if (chart === "throughput" || chart === "rate") return [{ value: values.rate, label: "link" }];
    return [];
  }

  /** @param {any} part @param {number} reached s */
  push(part, reached) {
    this.trace.push(part);
    this.latest = part;
    this.reached = reached;
    if (part.pauses) {
      part.stats.paused = part.pauses.time / Math.max(reached, 1e-12);
      part.stats.victim = part.pauses.goodput[0];
    }
  }

  /** Links that have paused so far. @returns {{from: string, to: string, class: number, time: number, column: string}[]} */
  pausedLinks() {
    return (this.latest?.pauses?.links ?? []).map((/** @type {any} */ link) => ({ ...link, column: columnOf(link) }));
  }

  /** Charts without values say why. */
  showNotes() {
    for (const chart of this.charts) {
      const { columns, noneText } = chart.quantity;
      const empty = noneText && !columns.some((name) => this.trace.seen.has(name));
      chart.figure.showNote(empty ? `${this.title} ${noneText}` : "");
    }
  }

  /** Mean and largest value in sight. @param {TimeChart} chart @param {number} from */
  summary(chart, from) {
    const { id, unit, columns } = chart.quantity;
    const span = this.trace.since(from);
    const means = columns.map((name) => this.trace.mean(name, span)).filter((mean) => mean !== null);
    if (!means.length) return null;
    const mean = means.reduce((sum, value) => sum + value, 0) / means.length;
    const high = Math.max(...columns.map((name) => this.trace.most(name, span)));
    return { mean, high, unit, id };
  }

  /** The line beside a chart's title. @param {TimeChart} chart @param {number} from */
  reading(chart, from) {
    const at = Number.isFinite(chart.hover) ? this.trace.at(chart.hover) : -1;
    if (at >= 0) {
      const values = chart.quantity.columns.filter((name) => this.trace.seen.has(name))
        .map((name) => format(this.trace.columns[name][at], chart.quantity.unit));
      return `${values.join(", ")} at ${format(this.trace.columns.t[at], "s", { digits: 4 })}`;
    }
    const found = this.summary(chart, from);
    if (!found) return "";
    const mean = `mean ${format(found.mean, found.unit)}`;
    return found.id === "queue" || found.id === "phantom" ? `${mean}, largest ${format(found.high, found.unit)}` : mean;
  }
}
