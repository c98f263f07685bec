// State: what the page shows. All of it is the link's fragment, in SI base units.

/**
 * @typedef {import("./model.js").Model} Model
 * @typedef {{a: string, b: string|null, more: string[], queue: string, log: boolean, lesson: string,
 *   values: Record<string, number>}} State `queue`: of the hosts; `lesson`: whose charts come first
 */

const MOST = 5; // of a link's faults that are told

/** The shorter way to write a number. @param {number} value */
export function written(value) {
  const full = String(value);
  const powers = value.toExponential().replace("e+", "e");
  return powers.length < full.length ? powers : full;
}

/** Without a link: the user's file, or DCTCP and HULL. @param {Model} model @returns {State} */
export function defaults(model) {
  const ids = model.schemes.map((scheme) => scheme.id);
  const values = Object.fromEntries(model.parameters.map((p) => [p.id, p.default]));
  const b = ids.includes("dctcp") && ids.includes("hull") ? "hull" : null;
  return { a: b ? "dctcp" : ids[0], b, more: [], queue: model.queue, log: false, lesson: "", values };
}

/** What one key allows, as text. @param {import("./model.js").Parameter} parameter */
function allowed(parameter) {
  if (parameter.choices) return parameter.choices.map(written).join(", ");
  return `${written(parameter.min)} to ${written(parameter.max)}`;
}

/** What a link holds, short enough to be shown. @param {string} text */
const shown = (text) => (text.length > 40 ? `${text.slice(0, 40)}…` : text) || "nothing";

/**
 * The state of a fragment, and what of it cannot be used; those keys keep their defaults.
 * As for the server, a link that names no scheme means the first one alone.
 * @param {Model} model @param {string} fragment @returns {{state: State, problems: string[]}}
 */
export function read(model, fragment) {
  const state = defaults(model);
  /** @type {string[]} */
  const problems = [];
  const keys = new URLSearchParams(fragment.replace(/^#/, ""));
  const ids = model.schemes.map((scheme) => scheme.id);
  const queues = model.queues.map((queue) => queue.id);
  if (keys.size) { state.a = ids.includes("hull") ? "hull" : ids[0]; state.b = null; }
  for (const key of new Set(keys.keys())) {
    const [text, ...more] = keys.getAll(key);
    const parameter = model.parameters.find((p) => p.id === key);
    const value = Number(text);
    if (more.length) {
      problems.push(`${shown(key)}: is given twice; expected once`);
    } else if (key === "b" && text === "") {
      state.b = null;
    } else if (key === "a" || key === "b") {
      if (ids.includes(text)) state[key] = text;
      else problems.push(`${key}: ${shown(text)} is invalid; expected ${ids.join(", ")}`);
    } else if (key === "more") {
      const names = text.split(",").filter((name) => name);
      const wrong = names.find((name) => !ids.includes(name));
      if (wrong) problems.push(`more: ${shown(wrong)} is invalid; expected ${ids.join(", ")}`);
      else if (names.length > model.most_more) problems.push(`more: found ${names.length} schemes; expected at most ${model.most_more}`);
      else state.more = names;
    } else if (key === "queue") {
      if (queues.includes(text)) state.queue = text;
      else problems.push(`queue: ${shown(text)} is invalid; expected ${queues.join(", ")}`);
    } else if (key === "y") {
      state.log = text === "log";
      if (!["log", "linear"].includes(text)) problems.push(`y: ${shown(text)} is invalid; expected log, linear`);
    } else if (key === "lesson") {
      state.lesson = text;
    } else if (!parameter) {
      problems.push(`${shown(key)}: not known`);
    } else if (text === "" || !Number.isFinite(value) || value < parameter.min || value > parameter.max
      || (parameter.choices && !parameter.choices.includes(value))
      || (parameter.kind === "integer" && !Number.isInteger(value))) {
      problems.push(`${key}: ${shown(text)} is invalid; expected ${allowed(parameter)}`);
    } else {
      state.values[key] = value;
    }
  }
  if (state.b === state.a) {
    problems.push(`b: ${state.b} is the same as a; expected another scheme or none`);
    state.b = null;
  }
  state.more = others(state, state.more);
  if (problems.length > MOST) problems.splice(MOST, Infinity, `and ${problems.length - MOST} more`);
  return { state, problems };
}

/** Of schemes, each once, those that have no charts. @param {State} state @param {string[]} ids */
export const others = (state, ids) => [...new Set(ids)].filter((id) => id !== state.a && id !== state.b);

/** What the server is told. @param {State} state @returns {Record<string, string|number>} */
export function settings(state) {
  return { a: state.a, ...(state.b ? { b: state.b } : {}),
    ...(state.more.length ? { more: state.more.join(",") } : {}), queue: state.queue, ...state.values };
}

/** The query of the server's addresses. @param {State} state */
export function query(state) {
  return Object.entries(settings(state))
    .map(([key, value]) => `${key}=${typeof value === "number" ? written(value) : encodeURIComponent(value).replaceAll("%2C", ",").replaceAll("%3A", ":")}`)
    .join("&");
}

/** The link's fragment. @param {State} state */
export const fragment = (state) => `#${query(state)}${state.log ? "&y=log" : ""}`
  + (state.lesson ? `&lesson=${encodeURIComponent(state.lesson)}` : "");
