// Presets: settings worth seeing, each with what to look at.

/**
 * @typedef {{id: string, title: string, look: string, a: string, b: string|null, log?: boolean,
 *   values: Record<string, number>}} Preset
 */

const TESTBED = { rate: 1e9, rtt: 200e-6, load: 0, flows: 2, drain: 0.95, threshold: 1000, k: 30000, speed: 0.02 };

/** @type {Preset[]} */
export const PRESETS = [
  {
    id: "why",
    title: "Why a phantom queue",
    look: "DCTCP holds its queue near 30 KB, and every packet waits in it. With HULL the phantom queue fills"
      + " in its place and the real one stays almost empty, for a little less throughput.",
    a: "dctcp", b: "hull", values: { ...TESTBED },
  },
  {
    id: "headroom",
    title: "Too little headroom",
    look: "Drag the drain rate slowly from 100% down to 90%: at 100% the phantom queue says nothing that the real"
      + " one does not; a few per cent of headroom empty the queue.",
    a: "dctcp_pq", b: "hull", values: { ...TESTBED, drain: 1 },
  },
  {
    id: "pacing",
    title: "What pacing does",
    look: "The same phantom queue without and with the pacer: bursts set off marks that steady packets do not,"
      + " so the unpaced flows keep smaller windows and lose throughput.",
    a: "dctcp_pq", b: "hull", values: { ...TESTBED, flows: 3 },
  },
  {
    id: "fig8",
    title: "Paper, figure 8",
    look: "Two to eight long flows on a link of 1 Gbps (drag the flows): DCTCP's latency does not depend on their"
      + " number; HULL's is far lower and grows with each flow, and its throughput falls slowly.",
    a: "dctcp", b: "hull", log: true, values: { ...TESTBED, flows: 4 },
  },
  {
    id: "droptail",
    title: "Drop tail",
    look: "TCP fills whatever buffer there is (drag it) and loses packets before it slows down; DCTCP is told in"
      + " time. On the log scale the two queues are 10 to 100 times apart.",
    a: "tcp", b: "dctcp", log: true, values: { ...TESTBED, buffer: 500000, speed: 0.1 },
  },
  {
    id: "tooth",
    title: "One tooth, slowly",
    look: "Slow motion: the window of DCTCP grows by a packet per round trip until the queue passes K, then is cut"
      + " by half of alpha. The dashed lines are the limit cycle of the thesis.",
    a: "dctcp", b: null, values: { ...TESTBED, rate: 1e10, rtt: 100e-6, k: 100000, speed: 0.001 },
  },
  {
    id: "incast",
    title: "Incast-like",
    look: "Many flows into one small buffer: even a packet of each in flight is more than K. Look at drops and"
      + " timeouts, and at the small requests that wait behind them.",
    a: "tcp", b: "hull", values: { ...TESTBED, flows: 32, buffer: 100000, load: 0.1, speed: 0.05 },
  },
  {
    id: "small",
    title: "Small requests",
    look: "Requests of 1 KB share the link with two long flows: compare the latency curves at 99%, where a page"
      + " that asks a hundred servers lives.",
    a: "dctcp", b: "hull", log: true, values: { ...TESTBED, load: 0.3, speed: 0.05 },
  },
  {
    id: "fast",
    title: "10 Gbps",
    look: "At ten times the rate a packet lasts 1.2 µs: the same headroom in per cent holds more flows"
      + " (paper, equation 5), and HULL's queue is smaller still when measured in time.",
    a: "dctcp", b: "hull", values: { ...TESTBED, rate: 1e10, k: 100000, threshold: 3000, rtt: 200e-6, speed: 0.005 },
  },
];

/**
 * The state of a preset, as far as this server knows its schemes and parameters.
 * @param {import("./model.js").Model} model @param {Preset} preset
 * @param {import("./state.js").State} from
 * @returns {import("./state.js").State|null}
 */
export function applied(model, preset, from) {
  const ids = model.schemes.map((scheme) => scheme.id);
  if (!ids.includes(preset.a) || (preset.b && !ids.includes(preset.b))) return null;
  const values = { ...from.values };
  for (const parameter of model.parameters) {
    const value = preset.values[parameter.id] ?? parameter.default;
    values[parameter.id] = Math.min(parameter.max, Math.max(parameter.min, value));
  }
  return { a: preset.a, b: preset.b, log: preset.log ?? false, values };
}
