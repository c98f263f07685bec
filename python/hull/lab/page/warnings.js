// Warnings: what `hull check` says of these settings, and what the run says of its marks, as one line that opens to a list.

export class Warnings {
  /** @param {HTMLElement} place @param {HTMLElement} aloud for screen readers, which hear nothing of what is closed */
  constructor(place, aloud) {
    this.place = place;
    this.aloud = aloud;
    this.line = /** @type {HTMLElement} */ (place.querySelector("summary"));
    this.list = /** @type {HTMLElement} */ (place.querySelector("ul"));
    /** @type {string[]} */
    this.before = []; // of the settings
    /** @type {Record<string, string>} */
    this.unmarked = {}; // by scheme, if it drops packets and marks none
    /** @type {string[]} */
    this.schemes = [];
    this.shown = "";
  }

  /** @param {{warnings: string[], without_marks: Record<string, string>, schemes: string[], more: string[]}} message */
  begin(message) {
    this.before = message.warnings;
    this.unmarked = message.without_marks;
    this.schemes = [...message.schemes, ...message.more];
    this.#show([]);
  }

  /** @param {{schemes: any[], more: any[]}} message */
  frame(message) {
    const parts = [...message.schemes, ...message.more];
    this.#show(this.schemes.flatMap((id, i) => {
      const stats = parts[i]?.stats;
      return stats?.drops > 0 && stats.marks === 0 && this.unmarked[id] ? [this.unmarked[id]] : [];
    }));
  }

  /** @param {string[]} during */
  #show(during) {
    const texts = [...this.before, ...during];
    const key = texts.join("\n");
    if (key === this.shown) return;
    this.shown = key;
    const count = texts.length > 1 ? `${texts.length} warnings: ` : "Warning: ";
    this.line.textContent = texts.length ? count + texts[0] : "No warnings";
    this.line.title = key;
    this.place.classList.toggle("any", texts.length > 0);
    this.list.replaceChildren(...texts.map((text) => Object.assign(document.createElement("li"), { textContent: text })));
    this.aloud.textContent = texts.length ? count + texts.join("; ") : "No warnings";
  }
}
