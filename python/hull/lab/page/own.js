// Own: the user's scenario file: its settings as the first example, and what the lab takes of it.

/** @typedef {import("./model.js").Model} Model */

/** @param {Model} model @returns {import("./presets.js").Preset|null} */
export function ownPreset(model) {
  if (!model.own) return null;
  const { file, title, network, state } = model.own;
  const keys = new URLSearchParams(state);
  const a = keys.get("a") ?? "";
  const own = model.schemes.find((scheme) => scheme.id === a)?.own;
  return {
    id: "own",
    title: file.split("/").pop() ?? file,
    look: own ? `${title}: ${network} with the file's traffic and schemes, simulated packet by packet. Drain, thresholds, buffer,`
        + " load and the hosts' queue can be changed; the other controls belong to the star, whose schemes are in the lists as well."
      : `${title}: a star with the file's numbers. Drag any slider.`,
    a,
    b: keys.get("b"),
    more: (keys.get("more") ?? "").split(",").filter((id) => id),
    queue: model.queue,
    first: ["queue", "phantom", "latency"],
    values: Object.fromEntries(model.parameters.map((parameter) => [parameter.id, parameter.default])),
  };
}

/** What is taken of the file and what is not. @param {HTMLElement} place @param {Model} model */
export function showOwn(place, model) {
  if (!model.own) return;
  const { file, taken, left } = model.own;
  const summary = /** @type {HTMLElement} */ (place.querySelector("summary"));
  summary.textContent = `What the lab takes of ${file.split("/").pop()}`;
  const list = /** @type {HTMLElement} */ (place.querySelector("dl"));
  for (const [title, texts] of /** @type {[string, string[]][]} */ ([["The star has", taken], ["The star does not have", left]])) {
    if (!texts.length) continue;
    list.append(Object.assign(document.createElement("dt"), { textContent: title }));
    for (const text of texts) list.append(Object.assign(document.createElement("dd"), { textContent: text }));
  }
  place.hidden = false;
}
