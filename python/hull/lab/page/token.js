// Token: asked for when the server wants one, kept for this tab only, never part of a link.

import { kept, keep } from "./kept.js";

const KEY = "hull-lab-token-";
let key = KEY;

/** Tokens of other servers are not tried: they would count as wrong. @param {string} server */
export const tokenIsOf = (server) => { key = KEY + server; };

export const token = () => kept(key);

export const forget = () => keep(key, null);

/** Ask until something is entered. @param {string} why @returns {Promise<void>} */
export function ask(why) {
  const dialog = /** @type {HTMLDialogElement} */ (document.getElementById("token-dialog"));
  const input = /** @type {HTMLInputElement} */ (document.getElementById("token"));
  const note = /** @type {HTMLElement} */ (document.getElementById("token-why"));
  note.textContent = why;
  input.value = "";
  if (!dialog.open) dialog.showModal();
  input.focus();
  return new Promise((resolve) => {
    dialog.oncancel = (event) => event.preventDefault();
    /** @type {HTMLFormElement} */ (dialog.querySelector("form")).onsubmit = (event) => {
      event.preventDefault();
      if (!input.value.trim()) return;
      keep(key, input.value.trim());
      dialog.close();
      resolve();
    };
  });
}

/** Headers of a request to the server. @returns {Record<string, string>} */
export function authorization() {
  const known = token();
  return known ? { Authorization: `Bearer ${known}` } : {};
}
