// Slider: one parameter as a native range input with its label, value and explanation.

import { format, spoken } from "./units.js";

/** @typedef {import("./model.js").Parameter} Parameter */

// Values of a logarithmic slider, for each decade: round numbers, about 8% apart.
const ROUND = [
  1, 1.1, 1.2, 1.3, 1.4, 1.5, 1.6, 1.8, 2, 2.2, 2.4, 2.6, 2.8, 3, 3.3, 3.6, 4, 4.4, 4.8, 5, 5.5, 6, 6.5, 7, 7.5,
  8, 8.5, 9, 9.5,
];

/** @param {number} min @param {number} max */
function roundValues(min, max) {
  const values = [min];
  for (let decade = Math.floor(Math.log10(min)); 10 ** decade <= max; decade += 1) {
    for (const digit of ROUND) {
      const value = Number(`${digit}e${decade}`);
      if (value > min * 1.001 && value < max * 0.999) values.push(value);
    }
  }
  return [...values, max];
}

/** How positions of the input and values belong together. @param {Parameter} parameter */
function mapping(parameter) {
  const { min, max } = parameter;
  const list = parameter.choices ?? (parameter.scale === "log" && min > 0 ? roundValues(min, max) : null);
  if (list) {
    const off = (/** @type {number} */ x, /** @type {number} */ y) => Math.abs(Math.log(x / y));
    return {
      least: 0, most: list.length - 1, step: 1,
      value: (/** @type {number} */ at) => list[Math.round(at)],
      position: (/** @type {number} */ value) => list.reduce(
        (best, x, i) => (off(x, value) < off(list[best], value) ? i : best), 0),
    };
  }
  const step = parameter.step || (parameter.kind === "integer" ? 1 : (max - min) / 200);
  const digits = Math.max(0, Math.ceil(-Math.log10(step) - 1e-9));
  return {
    least: min, most: max, step,
    value: (/** @type {number} */ at) => Number(Number(at).toFixed(digits)),
    position: (/** @type {number} */ value) => value,
  };
}

export class Slider {
  /** @param {Parameter} parameter @param {(value: number) => void} onInput */
  constructor(parameter, onInput) {
    this.parameter = parameter;
    this.map = mapping(parameter);
    const id = `set-${parameter.id}`;
    this.element = document.createElement("div");
    this.element.className = "control";
    const label = Object.assign(document.createElement("label"), { htmlFor: id, textContent: parameter.title });
    // Not a live region of its own: the slider says its value itself.
    this.output = Object.assign(document.createElement("output"), { htmlFor: id, ariaLive: "off" });
    this.input = Object.assign(document.createElement("input"), {
      type: "range", id, name: parameter.id, min: this.map.least, max: this.map.most, step: this.map.step,
    });
    const help = Object.assign(document.createElement("p"), {
      className: "help", id: `${id}-help`, textContent: parameter.help,
    });
    this.input.setAttribute("aria-describedby", help.id);
    this.element.append(label, this.output, this.input, help);
    this.input.addEventListener("input", () => {
      const value = this.map.value(this.input.valueAsNumber);
      this.#say(value);
      onInput(value);
    });
  }

  /** @param {number} value */
  set(value) {
    this.input.value = String(this.map.position(value));
    this.#say(value);
  }

  /** @param {boolean} matters whether a scheme that is shown uses the parameter */
  use(matters) {
    this.element.classList.toggle("unused", !matters);
    this.input.disabled = !matters;
    this.element.title = matters ? "" : "The schemes shown do not use this.";
  }

  /** @param {number} value */
  #say(value) {
    const { unit, id } = this.parameter;
    const text = id === "seed" || !["byte", "bytes", "bit/s", "s", "share", "s/s"].includes(unit)
      ? String(value) : format(value, unit, { exact: true });
    this.output.textContent = text;
    const name = ["", "flows", "packets"].includes(unit) ? unit : "";
    this.input.setAttribute("aria-valuetext", `${spoken(text)} ${name}`.trim());
    const { least, most } = this.map;
    const share = (this.map.position(value) - least) / (most - least);
    this.input.style.setProperty("--at", `${(100 * share).toFixed(2)}%`);
  }
}
