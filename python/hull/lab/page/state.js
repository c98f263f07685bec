// State: what the page shows. All of it is the link's fragment, in SI base units.

/**
 * @typedef {import("./model.js").Model} Model
 * @typedef {{a: string, b: string|null, log: boolean, values: Record<string, number>}} State
 */

/** The shorter way to write a number. @param {number} value */
export function written(value) {
  const full = String(value);
  const powers = value.toExponential().replace("e+", "e");
  return powers.length < full.length ? powers : full;
}

/** @param {Model} model @returns {State} */
export function defaults(model) {
  const ids = model.schemes.map((scheme) => scheme.id);
  const values = Object.fromEntries(model.parameters.map((p) => [p.id, p.default]));
  const b = ids.includes("dctcp") && ids.includes("hull") ? "hull" : null;
  return { a: b ? "dctcp" : ids[0], b, log: false, values };
}

/** What one key allows, in words. @param {import("./model.js").Parameter} parameter */
function allowed(parameter) {
  if (parameter.choices) return parameter.choices.map(written).join(", ");
  return `${written(parameter.min)} to ${written(parameter.max)}`;
}

/**
 * The state of a fragment, and what of it cannot be used; those keys keep their defaults.
 * @param {Model} model @param {string} fragment @returns {{state: State, problems: string[]}}
 */
export function read(model, fragment) {
  const state = defaults(model);
  /** @type {string[]} */
  const problems = [];
  const keys = new URLSearchParams(fragment.replace(/^#/, ""));
  const ids = model.schemes.map((scheme) => scheme.id);
  if (keys.has("a") && !keys.has("b")) state.b = null;
  for (const [key, text] of keys) {
    const parameter = model.parameters.find((p) => p.id === key);
    const value = Number(text);
    if (key === "a" || key === "b") {
      if (ids.includes(text)) state[key] = text;
      else problems.push(`${key}: found ${text}, allowed ${ids.join(", ")}`);
    } else if (key === "y") {
      state.log = text === "log";
    } else if (!parameter) {
      problems.push(`${key}: not known`);
    } else if (text === "" || !Number.isFinite(value) || value < parameter.min || value > parameter.max
      || (parameter.choices && !parameter.choices.includes(value))
      || (parameter.kind === "integer" && !Number.isInteger(value))) {
      problems.push(`${key}: found ${text}, allowed ${allowed(parameter)}`);
    } else {
      state.values[key] = value;
    }
  }
  return { state, problems };
}

/** What the server is told. @param {State} state @returns {Record<string, string|number>} */
export function settings(state) {
  return { a: state.a, ...(state.b ? { b: state.b } : {}), ...state.values };
}

/** The query of the server's addresses. @param {State} state */
export function query(state) {
  return Object.entries(settings(state))
    .map(([key, value]) => `${key}=${typeof value === "number" ? written(value) : encodeURIComponent(value)}`)
    .join("&");
}

/** The link's fragment. @param {State} state */
export const fragment = (state) => `#${query(state)}${state.log ? "&y=log" : ""}`;
