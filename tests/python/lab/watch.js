// Runs before the page: counts what it draws and moves, and times a slider's answer: from the input event to
// the first picture of the new generation.
window.draws = 0; window.pictures = 0; window.shifts = 0; window.answers = [];
window.painted = new Set();
let last = -1;
const { clearRect } = CanvasRenderingContext2D.prototype;
CanvasRenderingContext2D.prototype.clearRect = function (...box) {
  window.draws += 1;
  window.painted.add(this.canvas);
  const frame = document.timeline.currentTime;
  if (frame !== last) window.pictures += 1;
  last = frame;
  return clearRect.apply(this, box);
};
let input = null;
addEventListener("input", () => { input ??= performance.now(); }, true);
new PerformanceObserver((list) => {
  for (const mark of list.getEntries()) {
    if (!mark.name.startsWith("lab-generation") || input === null || mark.startTime < input) continue;
    window.answers.push(mark.startTime - input);
    input = null;
  }
}).observe({ type: "mark", buffered: true });
new PerformanceObserver((list) => {
  for (const entry of list.getEntries()) window.shifts += entry.value;
}).observe({ type: "layout-shift", buffered: true });
