// Kept: texts that the browser keeps, for this tab or for later visits; where it may not, this page does.

/** @type {Map<string, string>} */
const here = new Map();

/** @param {boolean} later for later visits @returns {Storage|null} */
function storage(later) {
  try { return later ? localStorage : sessionStorage; } catch { return null; }
}

/** @param {string} key @param {boolean} [later] @returns {string|null} */
export const kept = (key, later = false) => here.get(key) ?? storage(later)?.getItem(key) ?? null;

/** @param {string} key @param {string|null} text null: no more @param {boolean} [later] */
export function keep(key, text, later = false) {
  here.delete(key);
  try {
    const place = /** @type {Storage} */ (storage(later));
    if (text === null) place.removeItem(key);
    else place.setItem(key, text);
  } catch {
    if (text !== null) here.set(key, text);
  }
}
