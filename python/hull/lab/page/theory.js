// Theory: what the models predict for a state, by chart and by column of the readout.

import { format } from "./units.js";

/**
 * @typedef {{name: string, title: string, chart: string, stat: string|null, value: number|null,
 *   unit: string, source: string, label: string, why: string,
 *   section: string}} Prediction
 */

const CHARTS = { queue: "queue", phantom: "phantom", window: "window", cwnd: "window", alpha: "alpha",
  throughput: "throughput", latency: "latency" };
const STATS = ["queue_mean", "throughput", "latency_p50", "latency_p99", "fct_small_p50", "fct_small_p99"];

/** What stands beside a dashed line. @type {Record<string, string>} */
const LABELS = { queue_mean: "mean", queue_max: "largest", phantom_mean: "mean", phantom_max: "largest",
  window: "mean", window_mean: "mean", window_max: "largest", alpha: "mean", throughput: "mean",
  latency_mean: "mean", latency_p50: "50%", latency_p99: "99%", latency_max: "largest" };

/** Where in the papers, without what is said of it. @param {string} source */
function section(source) {
  const found = source.match(/(thesis|paper)( (equation|theorem))? [\d.]+(to [\d.]+| to [\d.]+)?(, (equation|table) \d+)?/);
  return found ? found[0].replace(/\.$/, "") : source;
}

/** @param {{name: string, unit?: string}} p */
const unitOf = (p) => (p.name === "alpha" ? "number"
  : /** @type {Record<string, string>} */ ({ byte: "bytes", packet: "packets" })[p.unit ?? ""] ?? p.unit ?? "");

/** The predictions for one scheme of an answer. @param {any} theory @param {number} index @returns {Prediction[]} */
export function predictions(theory, index) {
  const entry = theory?.schemes?.[index];
  const list = Array.isArray(entry) ? entry : entry?.predictions ?? [];
  return list.map((/** @type {any} */ p) => ({
    name: p.name, title: p.title ?? p.name, label: LABELS[p.name] ?? p.title ?? p.name, value: p.value ?? null, unit: unitOf(p), why: p.why ?? "",
    chart: p.chart ?? /** @type {Record<string, string>} */ (CHARTS)[String(p.name).split("_")[0]] ?? "",
    stat: p.stat ?? (STATS.includes(p.name) ? p.name : null),
    source: p.source ?? "", section: section(p.source ?? ""),
  }));
}

/** Those that are drawn in one chart. @param {Prediction[]} list @param {string} chart */
export const inChart = (list, chart) => list.filter((p) => p.chart === chart && p.value !== null);

/** The one beside a measured number. @param {Prediction[]} list @param {string} stat */
export const besides = (list, stat) => list.find((p) => p.stat === stat && p.value !== null);

/** The same with all that is said of the sources. @param {Prediction[]} list */
export const inFull = (list) => list.map((p) => `${p.label} ${format(p.value, p.unit)}: ${p.source}`).join("\n");

/** Why nothing is predicted for a chart. @param {Prediction[]} list @param {string} chart */
export const whyNone = (list, chart) => list.find((p) => p.chart === chart && p.value === null && p.why)?.why ?? "";

/** One line naming the dashed lines of a chart. @param {Prediction[]} list @param {string} [why] there are none */
export function inWords(list, why = "") {
  if (!list.length) return why ? `No prediction: ${why}` : "No prediction";
  /** @type {Map<string, string[]>} */
  const bySource = new Map();
  for (const p of list) {
    const words = `${p.label} ${format(p.value, p.unit)}`;
    bySource.set(p.section, [...(bySource.get(p.section) ?? []), words]);
  }
  const parts = [...bySource].map(([source, words]) => `${words.join(", ")}${source ? ` (${source})` : ""}`);
  return `Theory: ${parts.join("; ")}`;
}
