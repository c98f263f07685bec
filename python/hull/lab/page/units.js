// Units: numbers as people read them, three digits with a prefix; 1 KB is 1000 bytes.

/** @typedef {"bytes"|"bit/s"|"s"|"share"|"packets"|"s/s"|string} Unit */

/** @type {Record<string, [number, string][]>} */
const STEPS = {
  bytes: [[1e9, "GB"], [1e6, "MB"], [1e3, "KB"], [1, "B"]],
  "bit/s": [[1e9, "Gbps"], [1e6, "Mbps"], [1e3, "Kbps"], [1, "bps"]],
  s: [[1, "s"], [1e-3, "ms"], [1e-6, "µs"], [1e-9, "ns"]],
};

/** @param {number} value @param {number} digits */
function plain(value, digits) {
  if (value === 0) return "0";
  const size = Math.floor(Math.log10(Math.abs(value) * (1 + 0.5 * 10 ** -digits))); // 0.9999 is 1.00
  if (size < -20) return "0";
  if (size >= digits) return Math.round(value).toLocaleString("en");
  return value.toFixed(Math.max(0, digits - 1 - size));
}

/** "24.50" -> "24.5"; for settings and ticks, where a fixed width is not wanted. @param {string} text */
const short = (text) => (text.includes(".") ? text.replace(/\.?0+$/, "") : text);

/**
 * @param {number|null|undefined} value
 * @param {Unit} unit
 * @param {{digits?: number, exact?: boolean}} [options] exact: without trailing zeros
 * @returns {string}
 */
export function format(value, unit, options = {}) {
  if (value === null || value === undefined || !Number.isFinite(value)) return "–";
  const digits = options.digits ?? 3;
  if (unit === "byte") unit = "bytes";
  const number = (/** @type {number} */ x) => (options.exact ? short(plain(x, digits)) : plain(x, digits));
  if (unit === "share") return `${number(value * 100)}%`;
  if (unit === "count") return Math.round(value).toLocaleString("en");
  if (unit === "s/s") return `${format(value, "s", options)} per s`;
  const steps = STEPS[unit];
  if (!steps) return number(value);
  if (value === 0) return `0 ${unit === "s" ? "µs" : steps[steps.length - 1][1]}`;
  const size = Math.abs(value) * (1 + 0.5 * 10 ** -digits); // 999.9 B are 1.00 KB
  const [scale, name] = steps.find(([least]) => size >= least) ?? steps[steps.length - 1];
  return `${number(value / scale)} ${name}`;
}

/** Tick labels of an axis, all with the prefix of the largest. @param {number[]} ticks @param {Unit} unit */
export function tickLabels(ticks, unit) {
  const steps = STEPS[unit];
  const high = Math.max(...ticks.map(Math.abs));
  if (unit === "share") return ticks.map((tick) => `${short((tick * 100).toFixed(1))}%`);
  if (!steps) return ticks.map((tick) => short(tick.toFixed(3)));
  const [scale, name] = steps.find(([least]) => high >= least * 0.9999) ?? steps[steps.length - 1];
  return ticks.map((tick) => (tick === 0 ? "0" : `${short((tick / scale).toFixed(3))} ${name}`));
}

/** Spoken units for screen readers. @param {string} text */
export const spoken = (text) => text
  .replace(/ per s$/, " simulated per second").replace("µs", "microseconds").replace(/\bms\b/, "milliseconds")
  .replace(/ s\b/, " seconds").replace("KB", "kilobytes")
  .replace("MB", "megabytes").replace(/ B$/, " bytes").replace("Gbps", "gigabits per second")
  .replace("Mbps", "megabits per second").replace("–", "no value").replace(/^1 ([a-z]+)s\b/, "1 $1");
