// Trace: one scheme's samples of the last seconds, in memory that is allocated once.
//
// Each column is written into an array of twice its length; when that is full, the newer half moves
// to the front. So what is shown is always one piece of each array, which a view shows uncopied.
// Each link that has paused has a column of its own from then on.

export const FLOWS = 4;
const CAPACITY = 2400;
const COLUMNS = ["t", "queue", "phantom", "throughput", "paused"]
  .concat(...Array.from({ length: FLOWS }, (_, i) => [`cwnd${i}`, `alpha${i}`, `rate${i}`]));

/** The column of a link's pauses. @param {{from: string, to: string, class: number}} link */
export const columnOf = (link) => `${link.from}->${link.to} ${link.class}`;

/** @typedef {{start: number, end: number}} Span */

export class Trace {
  constructor() {
    /** @type {Record<string, Float64Array>} */
    this.columns = Object.fromEntries(COLUMNS.map((name) => [name, new Float64Array(2 * CAPACITY)]));
    this.start = 0;
    this.end = 0;
    /** @type {Set<string>} columns that have had a value */
    this.seen = new Set();
  }

  clear() {
    this.start = 0;
    this.end = 0;
    this.seen.clear();
  }

  /** Take another trace's samples; used when a new generation replaces this one. @param {Trace} other */
  copy(other) {
    for (const name of Object.keys(other.columns)) this.#column(name).set(other.columns[name].subarray(other.start, other.end));
    this.start = 0;
    this.end = other.end - other.start;
    this.seen = new Set(other.seen);
  }

  get length() { return this.end - this.start; }

  get first() { return this.columns.t[this.start]; }

  get last() { return this.length ? this.columns.t[this.end - 1] : 0; }

  /** Append the samples of one frame. @param {any} part one scheme of a frame */
  push(part) {
    const count = Math.min(part.t.length, CAPACITY);
    const skip = part.t.length - count;
    if (this.end + count > 2 * CAPACITY) this.#moveToFront(count);
    this.#write("t", part.t, skip, count);
    this.#write("queue", part.queue, skip, count);
    this.#write("phantom", part.phantom, skip, count);
    this.#write("throughput", part.throughput, skip, count);
    for (let i = 0; i < FLOWS; i += 1) {
      this.#write(`cwnd${i}`, part.flows[i]?.cwnd, skip, count);
      this.#write(`alpha${i}`, part.flows[i]?.alpha, skip, count);
      this.#write(`rate${i}`, part.pauses?.rates[i], skip, count);
    }
    this.#write("paused", part.pauses?.paused, skip, count);
    const links = new Map((part.pauses?.links ?? []).map((/** @type {any} */ link) => [columnOf(link), link.share]));
    for (const name of links.keys()) this.#column(name);
    for (const name of Object.keys(this.columns)) if (name.includes("->")) this.#write(name, links.get(name), skip, count);
    this.end += count;
    this.start = Math.max(this.start, this.end - CAPACITY);
  }

  /** A column, which is added if absent. @param {string} name */
  #column(name) {
    this.columns[name] ??= new Float64Array(2 * CAPACITY).fill(NaN);
    return this.columns[name];
  }

  /** @param {string} name @param {(number|null)[]|null|undefined} values @param {number} skip @param {number} count */
  #write(name, values, skip, count) {
    const column = this.columns[name];
    let any = false;
    for (let i = 0; i < count; i += 1) {
      const value = values?.[skip + i] ?? NaN;
      column[this.end + i] = value;
      any ||= value === value;
    }
    if (any) this.seen.add(name);
  }

  /** @param {number} count that has to fit */
  #moveToFront(count) {
    const keep = Math.min(this.length, CAPACITY - Math.min(count, CAPACITY));
    for (const column of Object.values(this.columns)) column.copyWithin(0, this.end - keep, this.end);
    this.start = 0;
    this.end = keep;
  }

  /** Samples from the last one before `from` on. @param {number} from @returns {Span} */
  since(from) {
    let low = this.start;
    let high = this.end;
    while (low < high) {
      const middle = (low + high) >> 1;
      if (this.columns.t[middle] < from) low = middle + 1;
      else high = middle;
    }
    return { start: Math.max(this.start, low - 1), end: this.end };
  }

  /** Index of the sample nearest to `t` or -1. @param {number} t */
  at(t) {
    if (!this.length) return -1;
    const { start } = this.since(t);
    const next = Math.min(start + 1, this.end - 1);
    const { t: times } = this.columns;
    return Math.abs(times[next] - t) < Math.abs(times[start] - t) ? next : start;
  }

  /** @param {string} name @param {Span} span */
  most(name, span) {
    const column = this.columns[name];
    let high = 0;
    for (let i = span.start; i < span.end; i += 1) if (column[i] > high) high = column[i];
    return high;
  }

  /** Mean of a column or null. @param {string} name @param {Span} span */
  mean(name, span) {
    const column = this.columns[name];
    let sum = 0;
    let count = 0;
    for (let i = span.start; i < span.end; i += 1) {
      if (column[i] === column[i]) { sum += column[i]; count += 1; }
    }
    return count ? sum / count : null;
  }
}
