// Controls: the two schemes, the hosts' queue and the sliders, in groups.

import { schemeOf, used } from "./model.js";
import { Slider } from "./slider.js";
import { hues } from "./theme.js";

/** @typedef {import("./model.js").Model} Model @typedef {import("./state.js").State} State */

const GROUPS = [
  ["Phantom queue", ["drain", "threshold"]],
  ["Traffic", ["flows", "load"]],
  ["Hosts", ["burst"]],
  ["Network", ["rate", "rtt", "mtu", "k", "buffer", "xoff"]],
  ["Run", ["speed", "seed"]],
];

/** @param {string} tag @param {object} [properties] @param {(Node|string)[]} children */
function make(tag, properties = {}, ...children) {
  const element = Object.assign(document.createElement(tag), properties);
  element.append(...children);
  return element;
}

export class Controls {
  /**
   * @param {HTMLFormElement} form @param {Model} model
   * @param {(change: Partial<State>) => void} onChange @param {() => void} onRecommend
   */
  constructor(form, model, onChange, onRecommend) {
    this.model = model;
    form.addEventListener("submit", (event) => event.preventDefault());
    /** @type {Map<string, Slider>} */
    this.sliders = new Map();
    this.pickers = {
      a: this.#scheme("a", "Scheme", [], onChange),
      b: this.#scheme("b", "Beside it", [{ id: "", title: "none" }], onChange),
    };
    this.queue = this.#picker("set-queue", "Queue", model.queues, (queue) => onChange({ queue }));
    const schemes = make("fieldset", { className: "schemes" }, make("legend", { textContent: "Schemes" }));
    for (const picker of Object.values(this.pickers)) schemes.append(picker.element);
    form.append(schemes, this.#others(onChange));
    const rest = model.parameters.map((p) => p.id).filter((id) => !GROUPS.some(([, ids]) => ids.includes(id)));
    for (const [title, ids] of [...GROUPS, ["More", rest]]) {
      const group = make("fieldset", {}, make("legend", { textContent: /** @type {string} */ (title) }));
      if (title === "Hosts") group.append(this.queue.element);
      for (const id of ids) {
        const parameter = model.parameters.find((p) => p.id === id);
        if (!parameter) continue;
        const slider = new Slider(parameter, (value) => onChange({ values: { [id]: value } }));
        this.sliders.set(id, slider);
        group.append(slider.element);
      }
      if (title === "Network") group.append(this.#recommend(onRecommend));
      if (group.querySelector("input")) form.append(group);
    }
  }

  /**
   * @param {"a"|"b"} key @param {string} title @param {{id: string, title: string}[]} before choices before the schemes
   * @param {(change: Partial<State>) => void} onChange
   */
  #scheme(key, title, before, onChange) {
    const picker = this.#picker(`scheme-${key}`, title, [...before, ...this.model.schemes], (id) => onChange({ [key]: id || null }));
    const swatch = make("span", { className: "swatch" });
    picker.label.prepend(swatch);
    return { ...picker, swatch };
  }

  /**
   * @param {string} id @param {string} title @param {{id: string, title: string}[]} choices
   * @param {(choice: string) => void} onPick
   */
  #picker(id, title, choices, onPick) {
    const select = /** @type {HTMLSelectElement} */ (make("select", { id }));
    for (const choice of choices) select.append(make("option", { value: choice.id, textContent: choice.title }));
    const summary = make("p", { className: "summary", id: `${id}-summary` });
    select.setAttribute("aria-describedby", summary.id);
    select.addEventListener("change", () => onPick(select.value));
    const label = make("label", { htmlFor: id }, title);
    return { element: make("div", { className: "picker" }, label, select, summary), label, select, summary };
  }

  /** Schemes that only the plane shows. @param {(change: Partial<State>) => void} onChange */
  #others(onChange) {
    const list = make("div", { className: "others" });
    /** @type {Map<string, {box: HTMLInputElement, swatch: HTMLElement, label: HTMLElement}>} */
    this.boxes = new Map();
    for (const { id, title } of this.model.schemes) {
      const box = /** @type {HTMLInputElement} */ (make("input", { type: "checkbox", id: `more-${id}`, name: "more", value: id }));
      const swatch = make("span", { className: "swatch" });
      const label = make("label", { className: "switch" }, box, swatch, title);
      box.addEventListener("change", () => onChange({
        more: [...this.boxes.values()].filter((entry) => entry.box.checked && !entry.label.hidden).map((entry) => entry.box.value),
      }));
      this.boxes.set(id, { box, swatch, label });
      list.append(label);
    }
    return make("fieldset", {}, make("legend", { textContent: `On the plane as well, at most ${this.model.most_more}` }), list);
  }

  /** @param {() => void} onRecommend */
  #recommend(onRecommend) {
    const button = make("button", { type: "button", id: "recommend", textContent: "Recommended settings",
      title: "Sets K, drain, threshold, buffer and slow motion for this link speed, round trip and packet size, as hull design does." });
    button.addEventListener("click", onRecommend);
    return button;
  }

  /** @param {State} state */
  show(state) {
    const ids = /** @type {string[]} */ ([state.a, state.b, ...state.more].filter((id) => id));
    const all = hues(ids);
    const hueOf = (/** @type {string} */ id) => all[ids.indexOf(id)];
    for (const key of /** @type {["a", "b"]} */ (["a", "b"])) {
      const picker = this.pickers[key];
      const id = state[key];
      picker.select.value = id ?? "";
      picker.summary.textContent = (id && schemeOf(this.model, id)?.summary) || "";
      picker.swatch.style.background = id ? `var(--${hueOf(id)})` : "transparent";
    }
    for (const [id, { box, swatch, label }] of this.boxes) {
      label.hidden = id === state.a || id === state.b;
      box.checked = state.more.includes(id);
      box.disabled = !box.checked && state.more.length >= this.model.most_more;
      swatch.style.background = box.checked ? `var(--${hueOf(id)})` : "transparent";
    }
    const matters = used(this.model, ids);
    this.queue.select.value = state.queue;
    this.queue.select.disabled = !matters.has("queue");
    this.queue.element.title = matters.has("queue") ? "" : "The schemes shown do not use this.";
    this.queue.summary.textContent = this.model.queues.find((queue) => queue.id === state.queue)?.summary ?? "";
    for (const [id, slider] of this.sliders) {
      slider.set(state.values[id]);
      slider.use(matters.has(id));
    }
  }
}
