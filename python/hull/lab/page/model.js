// Model: which schemes and parameters there are, as the server of this page tells them.

/**
 * @typedef {{id: string, title: string, summary: string, parameters: string[], own: boolean, lossless: boolean}} Scheme
 * @typedef {{id: string, title: string, summary: string}} Queue
 * @typedef {{id: string, title: string, unit: string, kind: "continuous"|"integer"|"choice",
 *   scale: "linear"|"log", min: number, max: number, step?: number|null, default: number,
 *   choices?: number[], help: string}} Parameter
 * @typedef {{file: string, title: string, state: string, taken: string[], left: string[], network: string}} Own
 * @typedef {{hull_version: string, schemes: Scheme[], parameters: Parameter[],
 *   queues: Queue[], queue: string, most_more: number, own: Own|null, networks: {rate: number, rtt: number, values: Record<string, number>}[],
 *   token_needed: boolean, admitted: boolean, server: string}} Model
 */

/** What the server says, null where it does not answer. @param {Record<string, string>} headers
 * @returns {Promise<Model|null>} */
export async function modelNow(headers = {}) {
  try {
    const answer = await fetch("/api/model", { headers });
    return answer.ok ? await answer.json() : null;
  } catch { return null; }
}

/** @param {Record<string, string>} [headers] @returns {Promise<Model>} */
export async function loadModel(headers) {
  for (let wait = 500; ; wait = Math.min(5000, wait * 2)) {
    const model = await modelNow(headers);
    if (model) return model;
    await new Promise((resolve) => setTimeout(resolve, wait));
  }
}

/** @param {Model} model @param {string} id */
export const schemeOf = (model, id) => model.schemes.find((scheme) => scheme.id === id);

/** Settings that change what `schemes` do. @param {Model} model @param {(string|null)[]} schemes */
export function used(model, schemes) {
  const ids = new Set(["seed", "speed"]);
  for (const id of schemes) {
    for (const parameter of (id && schemeOf(model, id)?.parameters) || []) ids.add(parameter);
  }
  return ids;
}

/** A title without the name of the user's file. @param {string} title */
export const shortTitle = (title) => title.replace(/ \([^()]*\.toml\)$/, "");
