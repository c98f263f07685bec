// Presets: settings worth seeing, each with what to look at. The first, which a page without a link shows, has
// hosts of today; the others keep the FIFO of the papers, so the numbers told of them in docs/lab.md hold. Hosts of the
// lossless network always have a queue per flow.

/**
 * @typedef {{id: string, title: string, look: string, a: string, b: string|null, more?: string[], queue: string, log?: boolean,
 *   first: string[], values: Record<string, number>}} Preset `queue`: of the hosts; the charts named in `first` come first
 */

const GIGABIT = { rate: 1e9, rtt: 200e-6, mtu: 1500, load: 0, flows: 2, drain: 0.95, threshold: 1000, k: 30000, buffer: 700000,
  burst: 1500, speed: 0.01, seed: 1 };

/** 100 Gbps, RED at a sixth of a round trip's bytes. */
const LOSSLESS = { rate: 1e11, rtt: 12e-6, mtu: 1500, load: 0, flows: 4, drain: 0.95, threshold: 3800, k: 26000, xoff: 200000,
  buffer: 2e6, burst: 1500, speed: 0.0003, seed: 1 };

/** @type {Preset[]} */
const PRESETS = [
  {
    id: "trade",
    title: "Bandwidth for latency",
    look: "Drag the phantom queue's drain and watch the plane: HULL gives up bandwidth (its dot moves left), and small"
      + " requests get faster (down), nearly as fast as in an empty network. With TCP they take ten times as long as with DCTCP.",
    a: "dctcp", b: "hull", more: ["tcp"], queue: "fair", first: ["queue", "latency", "throughput"],
    values: { ...GIGABIT, load: 0.1, speed: 0.05 },
  },
  {
    id: "why",
    title: "Why a phantom queue",
    look: "DCTCP keeps its queue near 30 KB, and every packet waits in it. With HULL the phantom queue fills"
      + " instead, and the real one stays almost empty; the price is a tenth of the throughput.",
    a: "dctcp", b: "hull", queue: "fifo", first: ["queue", "phantom", "throughput"],
    values: GIGABIT,
  },
  {
    id: "headroom",
    title: "No headroom",
    look: "Drag the drain from 100% down to 95%. A phantom queue that drains as fast as the link never fills, marks"
      + " nothing, and the real buffer fills instead; a few percent of headroom empty it.",
    a: "hull", b: null, queue: "fifo", first: ["phantom", "queue"],
    values: { ...GIGABIT, drain: 1, speed: 0.05 },
  },
  {
    id: "pacing",
    title: "What pacing does",
    look: "Hosts send 64 KB at a time: each burst alone exceeds the threshold and is marked. Without the pacer"
      + " windows and throughput collapse; with it they do not, and the queue stays small.",
    a: "dctcp_pq", b: "hull", queue: "fifo", first: ["throughput", "window", "phantom"],
    values: { ...GIGABIT, rate: 1e10, rtt: 400e-6, burst: 64000, speed: 0.05 },
  },
  {
    id: "fig8",
    title: "Paper, figure 8",
    look: "Drag the long flows from 2 to 8: DCTCP's latency at 99% stays near 300 µs; HULL's is a tenth of it, grows"
      + " with each flow, and its throughput falls slowly.",
    a: "dctcp", b: "hull", log: true, queue: "fifo", first: ["latency", "throughput"],
    values: { ...GIGABIT, rtt: 500e-6, flows: 4, speed: 0.02 },
  },
  {
    id: "droptail",
    title: "Drop tail",
    look: "TCP fills any buffer (drag it) and slows down only after losses; marks slow DCTCP down earlier."
      + " On the log scale their queues differ by a factor of ten or more.",
    a: "tcp", b: "dctcp", log: true, queue: "fifo", first: ["queue", "window"],
    values: { ...GIGABIT, buffer: 500000, speed: 0.1 },
  },
  {
    id: "tooth",
    title: "One tooth, slowly",
    look: "Slow motion: windows grow by a packet per round trip until the queue passes K. Then TCP halves its window;"
      + " DCTCP cuts by half of alpha only, and its queue does not run empty. Pause, and step through a cut.",
    a: "tcp_ecn", b: "dctcp", queue: "fifo", first: ["window", "alpha", "queue"],
    values: { ...GIGABIT, k: 15000, speed: 0.002 },
  },
  {
    id: "incast",
    title: "Incast-like",
    look: "32 flows into a buffer of 100 KB: TCP loses packets and waits for timeouts, and so do the small requests"
      + " beside it (FCT at 99%). With HULL few are lost, but 32 flows need more than 5% of headroom.",
    a: "tcp", b: "hull", queue: "fifo", first: ["queue", "throughput"],
    values: { ...GIGABIT, flows: 32, buffer: 100000, load: 0.1, speed: 0.1 },
  },
  {
    id: "small",
    title: "Small requests",
    look: "Requests of 1 KB and 20 KB share the link with two long flows. Compare the latency curves at 99%: a page"
      + " that asks a hundred servers waits for the slowest of them.",
    a: "dctcp", b: "hull", log: true, queue: "fifo", first: ["latency", "queue"],
    values: { ...GIGABIT, load: 0.3, speed: 0.05 },
  },
  {
    id: "spread",
    title: "Pauses spread",
    look: "A lossless network: the incast to host 0 makes switch s1 pause the link from s0, and s0 pauses all that send over it, the"
      + " victim too, which shares no congested port. With a phantom queue the senders slow down before: drag the drain.",
    a: "pfc", b: "dcqcn_pq", queue: "fair", first: ["rate", "paused", "queue"],
    values: LOSSLESS,
  },
  {
    id: "pauses",
    title: "Marks or pauses first",
    look: "Drag the pause threshold below and above K. Below it pauses hold the queue down, and RED marks little."
      + " A phantom queue marks before either. HPCC (on the plane) reads the queue itself.",
    a: "dcqcn", b: "dcqcn_pq", more: ["pfc", "hpcc"], queue: "fair", first: ["paused", "rate", "queue"],
    values: { ...LOSSLESS, xoff: 20000 },
  },
];

/**
 * All examples: those above, and one for each faster network that the server has settings for.
 * @param {import("./model.js").Model} model @returns {Preset[]}
 */
export const presets = (model) => [...PRESETS, ...model.networks.map(({ rate, rtt, values }) => ({
  id: `network-${rate}`,
  title: `${rate / 1e9} Gbps`,
  look: `${rate / 1e9} Gbps and a round trip of ${Number((rtt * 1e6).toPrecision(3))} µs, with the settings of hull design. A packet takes `
    + `${Number((12000 / rate * 1e9).toPrecision(3))} ns; the same percentage of headroom supports more flows (paper, equation 5). Drag the`
    + " phantom queue's threshold: bursts of small requests that exceed it cost the long flows bandwidth.",
  a: "dctcp", b: "hull", more: ["tcp_ecn"], queue: "fifo", first: ["queue", "phantom"],
  values: { ...GIGABIT, load: 0.1, rate, rtt, ...values },
}))];

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
  const more = (preset.more ?? []).filter((id) => ids.includes(id));
  return { a: preset.a, b: preset.b, more, queue: preset.queue, log: preset.log ?? false, lesson: preset.id, values };
}
