// Token: asked for when the server wants one, kept for this tab only, never part of a link.

const KEY = "hull-lab-token";

export const token = () => sessionStorage.getItem(KEY);

export const forget = () => sessionStorage.removeItem(KEY);

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
      sessionStorage.setItem(KEY, input.value.trim());
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
