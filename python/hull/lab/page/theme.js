// Theme: light or dark, and the colours in which charts are drawn, read from the style sheet.

import { keep, kept } from "./kept.js";

const KEY = "hull-lab-colours";
const NAMES = ["ground", "text", "quiet", "line", "grid"];

/** Colours of schemes as hull's figures have them: the palette of Okabe and Ito. */
const KNOWN = {
  hull: "green", dctcp: "blue", tcp: "vermilion", tcp_ecn: "purple", tcp_red: "purple",
  dctcp_pq: "sky", rcp: "orange", cubic: "orange", vegas: "grey",
  pfc: "vermilion", dcqcn: "blue", dcqcn_pq: "green", hpcc: "purple",
};
const SPARE = ["orange", "purple", "grey", "sky", "vermilion", "blue", "green"];

/** Of the user's schemes, by what their names begin with or hold. @type {[RegExp, string][]} */
const ALIKE = [[/hull|pacer/, "hull"], [/dctcp.*pq/, "dctcp_pq"], [/dctcp/, "dctcp"], [/dcqcn.*(pq|phantom)/, "dcqcn_pq"], [/dcqcn/, "dcqcn"],
  [/hpcc/, "hpcc"], [/pause|pfc/, "pfc"], [/cubic/, "cubic"], [/ecn/, "tcp_ecn"],
  [/tcp|reno/, "tcp"]];

/** Names of the colours of schemes, no two the same. @param {string[]} ids @returns {string[]} */
export function hues(ids) {
  const known = /** @type {Record<string, string>} */ (KNOWN);
  /** @type {string[]} */
  const taken = [];
  for (const id of ids) {
    const alike = ALIKE.find(([pattern]) => pattern.test(id))?.[1] ?? "";
    const wanted = known[id] ?? known[alike] ?? SPARE[0];
    taken.push(taken.includes(wanted) ? /** @type {string} */ (SPARE.find((name) => !taken.includes(name))) : wanted);
  }
  return taken;
}

/** @typedef {Record<string, string>} Colours */

/** The colours of now as canvases take them. @returns {Colours} */
export function colours() {
  const probe = document.createElement("span");
  document.body.append(probe);
  /** @type {Colours} */
  const found = {};
  for (const name of [...NAMES, ...SPARE]) {
    probe.style.color = `var(--${name})`;
    found[name] = getComputedStyle(probe).color;
  }
  probe.remove();
  return found;
}

/** @param {HTMLSelectElement} select @param {() => void} onChange */
export function followTheme(select, onChange) {
  const dark = matchMedia("(prefers-color-scheme: dark)");
  const apply = () => {
    if (select.value === "auto") delete document.documentElement.dataset.theme;
    else document.documentElement.dataset.theme = select.value;
    onChange();
  };
  const last = kept(KEY, true);
  if (last === "light" || last === "dark") select.value = last;
  select.addEventListener("change", () => { keep(KEY, select.value, true); apply(); });
  dark.addEventListener("change", apply);
  apply();
}

/** The same colour, partly clear. @param {string} colour rgb(...) @param {number} share */
export const faded = (colour, share) => colour.replace(/^rgb\((.*)\)$/, `rgba($1, ${share})`);
