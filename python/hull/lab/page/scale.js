// Scale: limits of a vertical axis that two charts share; it grows at once and shrinks late.

const NICE = [1, 1.5, 2, 3, 4, 5, 6, 8, 10];
const SHRINK_AFTER_MS = 1500;

/** The next round number from `value` on. @param {number} value */
export function roundUp(value) {
  const decade = 10 ** Math.floor(Math.log10(value));
  return decade * /** @type {number} */ (NICE.find((digit) => digit * decade >= value * 0.9999) ?? 10);
}

export class Scale {
  /** @param {{least: number, floor: number, most?: number}} limits `floor`: lowest value on a log axis */
  constructor(limits) {
    this.limits = limits;
    this.high = limits.least;
    this.smallSince = 0;
  }

  /** @param {number} value largest value in sight @param {number} now ms */
  fit(value, now) {
    const { least, most } = this.limits;
    const wanted = Math.min(most ?? Infinity, roundUp(Math.max(least, value * 1.04)));
    if (wanted >= this.high) {
      this.smallSince = now;
      this.high = wanted;
    } else if (wanted > this.high * 0.8) {
      this.smallSince = now;
    } else if (now - this.smallSince > SHRINK_AFTER_MS) {
      this.high = wanted;
      this.smallSince = now;
    }
  }

  /** @param {boolean} log @returns {[number, number]} */
  range(log) {
    if (!log) return [0, this.high];
    return [this.limits.floor, Math.max(this.limits.floor * 100, this.high)];
  }
}
