// SVG: elements of drawings.

const NAMESPACE = "http://www.w3.org/2000/svg";

/** @param {string} tag @param {Record<string, string|number>} attributes @param {string} [text] @returns {any} */
export function element(tag, attributes, text) {
  const made = document.createElementNS(NAMESPACE, tag);
  for (const [name, value] of Object.entries(attributes)) made.setAttribute(name, String(value));
  if (text !== undefined) made.textContent = text;
  return made;
}

/** @param {Element} parent @param {string} tag @param {Record<string, string|number>} attributes @param {string} [text] */
export function add(parent, tag, attributes, text) {
  const made = element(tag, attributes, text);
  parent.append(made);
  return made;
}

/** @param {Element} parent */
export const clear = (parent) => parent.replaceChildren();
