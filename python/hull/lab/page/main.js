// Main: joins the model, the state in the link, the controls, the stream and the board.

import { Board } from "./board.js";
import { Controls } from "./controls.js";
import { loadModel, modelNow } from "./model.js";
import { Numbers } from "./numbers.js";
import { ownPreset, showOwn } from "./own.js";
import { applied, presets } from "./presets.js";
import { fragment, others, query, read, settings } from "./state.js";
import { Stream } from "./stream.js";
import { followTheme } from "./theme.js";
import { ask, authorization, forget, token, tokenIsOf } from "./token.js";
import { format } from "./units.js";
import { Warnings } from "./warnings.js";

const LINK_MS = 300; // browsers refuse more than about a hundred changes of the address in 30 s

/** @template {HTMLElement} T @param {string} id @returns {T} */
const the = (id) => /** @type {T} */ (document.getElementById(id));

const WORDS = {
  connecting: "Connecting", live: "Live", lost: "Server gone, trying again", busy: "Server full, trying again",
  refused: "Refused by the server", stopped: "Run ended: press Restart", token: "Token needed", paused: "Paused",
};

/** @param {keyof typeof WORDS} kind */
function showConnection(kind) {
  const place = the("connection");
  if (place.dataset.kind === kind) return;
  place.dataset.kind = kind;
  the("connection-text").textContent = WORDS[kind];
  the("charts").classList.toggle("stale", !["live", "paused", "stopped"].includes(kind));
}

/** What the models say of their limits here. @param {string[]} notes */
function showNotes(notes) {
  const text = notes.join(" ");
  if (the("notes").textContent === text) return;
  the("notes").textContent = text;
  the("notes").title = text;
}

let noticeTimer = 0;

/** @param {string} text @param {number} [ms] */
function notice(text, ms = 0) {
  clearTimeout(noticeTimer);
  the("notice-text").textContent = text;
  the("notice").hidden = !text;
  if (ms) noticeTimer = setTimeout(() => notice(""), ms);
}

/** @param {string[]} problems */
const unusable = (problems) => (problems.length ? `Not used from the link: ${problems.join("; ")}` : "");

/** @param {string} text */
async function copy(text) {
  try {
    await navigator.clipboard.writeText(text);
    notice("Link copied.", 3000);
  } catch { // no clipboard outside of https and localhost
    notice(`Copy this link: ${text}`);
  }
}

/** The model; where the server needs a token, with what it tells only those who have it. */
async function admittedModel() {
  let model = await loadModel();
  tokenIsOf(model.server);
  for (let why = ""; !model.admitted; why = "The token is wrong, or too many wrong ones came within a minute.") {
    if (why) forget();
    if (!token()) { showConnection("token"); await ask(why); }
    model = await loadModel(authorization());
  }
  return model;
}

async function start() {
  const model = await admittedModel();
  let { state, problems } = read(model, location.hash);
  notice(unusable(problems));
  let trouble = ""; // what the server said when it closed the connection
  /** @type {string[]} */
  let theirs = []; // what the models say of their limits
  let asked = state.values; // what the server was last asked for
  const board = new Board(model, the("charts"), the("readout"), the("stage"), the("pauses"));
  followTheme(the("theme"), () => board.recolour());
  new Numbers(the("numbers"), board);
  const warnings = new Warnings(the("warnings"), the("warnings-aloud"));

  const stream = new Stream({
    settings: () => { asked = state.values; return settings(state); },
    token,
    again,
    fps: matchMedia("(prefers-reduced-motion: reduce)").matches ? 5 : 60,
    onMessage: (message) => {
      if (message.type === "begin") {
        board.begin(message, asked);
        warnings.begin(message);
        theirs = message.theory?.notes ?? [];
      } else if (message.type === "frame") {
        board.frame(message);
        warnings.frame(message);
        const until = format(board.warmup, "s", { exact: true });
        showNotes(board.slow ? [`Warming up: until ${until} the numbers count from the start.`, ...theirs] : theirs);
      }
      if (message.type === "end") showConnection("stopped");
      else if (message.type === "error") notice(message.message);
    },
    onChange: (connection, why) => {
      showConnection(connection === "live" && stream.paused ? "paused" : connection);
      if (connection === "live") {
        if (trouble && the("notice-text").textContent === trouble) notice("");
        trouble = "";
        return;
      }
      trouble = why;
      if (connection === "token") login(why || "Enter the token that the server printed.");
      else if (why) notice(why);
    },
  });

  /** Connect again, perhaps to another server than before. */
  async function again() {
    if (model.token_needed) {
      const now = await modelNow();
      if (now) tokenIsOf(now.server);
      if (now?.token_needed && !token()) {
        showConnection("token");
        login("The server was restarted: enter its new token.");
        return;
      }
    }
    stream.connect();
  }

  /** @param {string} why */
  async function login(why) {
    forget();
    notice("");
    await ask(why);
    stream.connect();
  }

  let linkTimer = 0;
  const writeLink = () => {
    linkTimer = 0;
    history.replaceState(null, "", fragment(state));
  };

  /** @param {Partial<import("./state.js").State>} part */
  function change(part) {
    const before = query(state);
    state = { ...state, ...part, values: { ...state.values, ...part.values } };
    if (state.b === state.a) state.b = null;
    state.more = others(state, state.more);
    show();
    if (query(state) !== before) stream.change();
    linkTimer ||= setTimeout(writeLink, LINK_MS);
  }

  let recommending = 0;

  /** Change that, with the settings that are recommended for it. @param {Partial<import("./state.js").State>} part */
  async function recommend(part) {
    const wish = recommending += 1;
    const wanted = { ...state, values: { ...state.values, ...part.values } };
    let found = {};
    try {
      const answer = await fetch(`/api/recommended?${query(wanted)}`, { headers: authorization() });
      if (answer.ok) found = await answer.json();
    } catch { /* the stream says that the server is gone */ }
    if (wish === recommending) change({ values: { ...part.values, ...found } });
  }

  const controls = new Controls(the("controls"), model, (part) => {
    forgetPreset();
    if (part.values && ("rate" in part.values || "mtu" in part.values)) recommend(part);
    else change(part);
  }, () => { forgetPreset(); recommend({ values: {} }); });

  /** @type {({button: HTMLButtonElement, key: string, preset: import("./presets.js").Preset}|null)[]} */
  let buttons = [];

  function show() {
    controls.show(state);
    /** @type {HTMLInputElement} */ (the("log")).checked = state.log;
    if (board.log !== state.log) board.setLog(state.log);
    board.order(buttons.find((entry) => entry?.preset.id === state.lesson)?.preset.first ?? []);
  }

  // Presets.
  const look = the("look-text");
  const own = ownPreset(model);
  showOwn(the("own"), model);
  buttons = [...(own ? [own] : []), ...presets(model)].map((preset) => {
    const button = Object.assign(document.createElement("button"), { type: "button", textContent: preset.title });
    button.setAttribute("aria-pressed", "false");
    const next = applied(model, preset, state);
    if (!next) return null;
    button.addEventListener("click", () => {
      board.stage.plane.fresh = true;
      change(next);
      choose(button, preset);
    });
    the("presets").append(button);
    return { button, key: query(next), preset };
  }).filter((entry) => entry !== null);

  /** @param {HTMLButtonElement} button @param {import("./presets.js").Preset} preset */
  function choose(button, preset) {
    for (const other of buttons) other?.button.setAttribute("aria-pressed", String(other.button === button));
    look.textContent = preset.look;
  }

  function forgetPreset() {
    for (const entry of buttons) entry?.button.setAttribute("aria-pressed", "false");
  }

  // Buttons.
  const pause = the("pause");
  const step = /** @type {HTMLButtonElement} */ (the("step"));
  pause.addEventListener("click", () => {
    const now = !stream.paused;
    if (now) stream.pause(); else stream.resume();
    board.paused = now;
    pause.setAttribute("aria-pressed", String(now));
    step.disabled = !now;
    if (["live", "paused"].includes(the("connection").dataset.kind ?? "")) showConnection(now ? "paused" : "live");
  });
  step.addEventListener("click", () => stream.step(state.values.speed / 20));
  the("restart").addEventListener("click", () => stream.change());
  the("copy").addEventListener("click", () => { writeLink(); copy(location.href); });
  the("save").addEventListener("click", async () => {
    try {
      const answer = await fetch(`/api/scenario?${query(state)}`, { headers: authorization() });
      if (!answer.ok) { notice((await answer.json()).error ?? `Not saved: ${answer.status}`); return; }
      const url = URL.createObjectURL(await answer.blob());
      Object.assign(document.createElement("a"), { href: url, download: "lab.toml" }).click();
      setTimeout(() => URL.revokeObjectURL(url), 10000);
      notice("Saved as lab.toml: run it with “hull run lab.toml”.", 6000);
    } catch { notice("Not saved: the server does not answer."); }
  });
  the("notice-close").addEventListener("click", () => notice(""));
  addEventListener("keydown", (event) => { if (event.key === "Escape") notice(""); });
  the("log").addEventListener("change", (event) => change({ log: /** @type {HTMLInputElement} */ (event.target).checked }));
  addEventListener("hashchange", () => {
    const link = read(model, location.hash);
    notice(unusable(link.problems));
    if (fragment(link.state) !== fragment(state)) { state.b = null; change(link.state); }
  });
  document.addEventListener("visibilitychange", () => {
    if (board.paused) return;
    if (document.hidden) { stream.pause(); return; }
    stream.resume();
    // It may have been connected again meanwhile.
    if (the("connection").dataset.kind === "paused") showConnection("live");
  });
  const wide = matchMedia("(min-width: 60rem)");
  const drawer = /** @type {HTMLDetailsElement} */ (the("settings"));
  drawer.open = wide.matches; // on a phone it is a drawer at the bottom
  wide.addEventListener("change", () => { if (wide.matches) drawer.open = true; });
  the("about").textContent = `hull ${model.hull_version}.`
    + " Statistics and the latency curve restart after the warm-up (200 round trips at most). Dashed lines are theory, dotted lines settings; grey lines are from before the last change.";

  show();
  const matching = buttons.find((entry) => entry?.key === query(state));
  if (matching) choose(matching.button, matching.preset);
  else if (location.hash.length < 2 && buttons[0]) buttons[0].button.click();
  else look.textContent = "The settings of a link. Drag any slider, or pick one of the examples above.";
  stream.connect();
}

start();
