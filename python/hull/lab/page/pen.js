// Pen: what charts draw beside their series: faded older traces, theory, settings.

import { faded } from "./theme.js";

/** @typedef {import("./vendor/uPlot.esm.js").default} UPlot */
/** @typedef {{value: number, label: string}} Line */

/** @param {any} u @param {() => void} draw with the plot's area as clip */
function inside(u, draw) {
  const { ctx, bbox } = u;
  ctx.save();
  ctx.beginPath();
  ctx.rect(bbox.left, bbox.top, bbox.width, bbox.height);
  ctx.clip();
  draw();
  ctx.restore();
}

/**
 * A column of an older trace, from where the new one ends.
 * @param {any} u @param {import("./trace.js").Trace} trace @param {string} name
 * @param {number} shift of its times @param {number} from @param {string} colour
 */
export function olderTrace(u, trace, name, shift, from, colour) {
  if (!trace.seen.has(name)) return;
  const { ctx } = u;
  const times = trace.columns.t;
  const values = trace.columns[name];
  const right = u.bbox.left + u.bbox.width;
  inside(u, () => {
    ctx.beginPath();
    let down = false;
    for (let i = trace.start; i < trace.end; i += 1) {
      const t = times[i] - shift;
      if (t < from || values[i] !== values[i]) { down = false; continue; }
      const x = u.valToPos(t, "x", true);
      const y = u.valToPos(values[i], "y", true);
      if (down) ctx.lineTo(x, y);
      else ctx.moveTo(x, y);
      down = true;
      if (x > right) break;
    }
    ctx.strokeStyle = colour;
    ctx.lineWidth = devicePixelRatio;
    ctx.stroke();
  });
}

/** Whether a line is in sight. @param {any} u @param {number} y */
const seen = ({ bbox }, y) => y >= bbox.top - 1 && y <= bbox.top + bbox.height + 1;

/** Lines across the plot. @param {any} u @param {Line[]} lines @param {{colour: string, dash: number[]}} look */
export function across(u, lines, look) {
  const { ctx, bbox } = u;
  const px = devicePixelRatio;
  inside(u, () => {
    ctx.lineWidth = 1.5 * px;
    ctx.strokeStyle = look.colour;
    ctx.setLineDash(look.dash.map((length) => length * px));
    for (const line of lines) {
      const y = u.valToPos(line.value, "y", true);
      if (!seen(u, y)) continue;
      ctx.beginPath();
      ctx.moveTo(bbox.left, y);
      ctx.lineTo(bbox.left + bbox.width, y);
      ctx.stroke();
    }
  });
}

/**
 * The names of such lines, at one end of them, over all that is drawn.
 * @param {any} u @param {Line[]} lines @param {{colour: string, ground: string}} look @param {"left"|"right"} end
 */
export function names(u, lines, look, end) {
  const { ctx, bbox } = u;
  const px = devicePixelRatio;
  const size = 11 * px;
  let above = -Infinity;
  const at = end === "right" ? bbox.left + bbox.width - 4 * px : bbox.left + 4 * px;
  inside(u, () => {
    ctx.font = `${size}px system-ui, "Segoe UI", Roboto, "DejaVu Sans", sans-serif`;
    ctx.textAlign = end;
    ctx.textBaseline = "bottom";
    for (const line of [...lines].sort((p, q) => q.value - p.value)) {
      const y = u.valToPos(line.value, "y", true);
      if (!seen(u, y)) continue;
      let base = y - 2 * px;
      if (base - size < bbox.top) base = y + size + 3 * px;
      if (base - size < above) base = above + size + px;
      above = base;
      const wide = ctx.measureText(line.label).width + 4 * px;
      ctx.fillStyle = faded(look.ground, 0.8);
      ctx.fillRect(end === "right" ? at + 2 * px - wide : at - 2 * px, base - size, wide, size);
      write(ctx, line.label, at, base, look);
    }
  });
}

/**
 * A vertical dashed line with its name beside it.
 * @param {any} u @param {number} value @param {string} label @param {number} row of the label
 * @param {{colour: string, ink: string, ground: string, dash: number[]}} look
 */
export function upright(u, value, label, row, look) {
  const { ctx, bbox } = u;
  const px = devicePixelRatio;
  const x = u.valToPos(value, "x", true);
  if (!(x >= bbox.left && x <= bbox.left + bbox.width)) return;
  inside(u, () => {
    ctx.strokeStyle = look.colour;
    ctx.lineWidth = 1.5 * px;
    ctx.setLineDash(look.dash.map((length) => length * px));
    ctx.beginPath();
    ctx.moveTo(x, bbox.top);
    ctx.lineTo(x, bbox.top + bbox.height);
    ctx.stroke();
    ctx.font = `${11 * px}px system-ui, "Segoe UI", Roboto, "DejaVu Sans", sans-serif`;
    ctx.textBaseline = "top";
    const wide = ctx.measureText(label).width + 8 * px;
    const left = x + wide > bbox.left + bbox.width;
    ctx.textAlign = left ? "right" : "left";
    write(ctx, label, x + (left ? -4 : 4) * px, bbox.top + (4 + 14 * row) * px, { colour: look.ink, ground: look.ground });
  });
}

/** @param {CanvasRenderingContext2D} ctx @param {string} label @param {number} x @param {number} y
 * @param {{colour: string, ground: string}} look */
function write(ctx, label, x, y, look) {
  ctx.setLineDash([]);
  ctx.lineJoin = "round";
  ctx.lineWidth = 3 * devicePixelRatio;
  ctx.strokeStyle = look.ground;
  ctx.strokeText(label, x, y);
  ctx.fillStyle = look.colour;
  ctx.fillText(label, x, y);
}
