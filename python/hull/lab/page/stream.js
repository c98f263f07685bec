// Stream: the WebSocket to the simulator. Reconnects, and sends only the newest of many settings.

/** @typedef {"connecting"|"live"|"lost"|"busy"|"refused"|"stopped"|"token"} Connection */

const SPACING_MS = 50;
const PATIENCE_MS = 1500;

export class Stream {
  /**
   * @param {{settings: () => Record<string, string|number>, token: () => string|null, fps: number,
   *   again: () => void, onMessage: (message: any) => void, onChange: (connection: Connection, why: string) => void}} options
   */
  constructor(options) {
    this.options = options;
    /** @type {WebSocket|null} */
    this.socket = null;
    this.wait = 250;
    this.paused = false;
    this.begun = true; // a generation has begun since settings were sent
    this.answered = true; // and its first frame has come
    this.changed = false;
    this.sentAt = -SPACING_MS;
    this.timer = 0;
    this.why = "";
    this.refused = false; // until other settings are tried
  }

  connect() {
    clearTimeout(this.timer);
    this.why = "";
    this.refused = false;
    const url = new URL("/api/live", location.href);
    url.protocol = url.protocol === "https:" ? "wss:" : "ws:";
    const socket = new WebSocket(url);
    this.socket = socket;
    socket.onopen = () => {
      const token = this.options.token();
      socket.send(JSON.stringify({
        type: "start", ...(token ? { token } : {}), state: this.options.settings(), fps: this.options.fps,
      }));
      this.#sent();
    };
    socket.onmessage = (event) => this.#receive(event.data);
    socket.onclose = (event) => { if (this.socket === socket) this.#closed(event); };
  }

  /** The settings have changed: send them at once, or when the last ones have been answered. */
  change() {
    this.changed = true;
    if (this.refused) { this.connect(); return; }
    const since = performance.now() - this.sentAt;
    if (!this.answered && since < PATIENCE_MS) return;
    if (since >= SPACING_MS) this.#flush();
    else { clearTimeout(this.timer); this.timer = setTimeout(() => this.#flush(), SPACING_MS - since); }
  }

  pause() { this.paused = true; this.#send({ type: "pause" }); }

  resume() { this.paused = false; this.#send({ type: "resume" }); }

  /** @param {number} seconds simulated */
  step(seconds) { this.#send({ type: "step", seconds }); }

  #flush() {
    if (!this.changed || !this.#send({ type: "state", state: this.options.settings() })) return;
    this.#sent();
  }

  #sent() {
    this.changed = false;
    this.begun = false;
    this.answered = false;
    this.sentAt = performance.now();
  }

  /** @param {object} message */
  #send(message) {
    if (this.socket?.readyState !== WebSocket.OPEN) return false;
    this.socket.send(JSON.stringify(message));
    return true;
  }

  /** @param {string} text */
  #receive(text) {
    const message = JSON.parse(text);
    if (message.type === "error") this.why = message.message;
    if (message.type === "begin") {
      this.begun = true;
      this.wait = 250;
      this.options.onChange("live", "");
      if (this.paused) this.#send({ type: "pause" });
    }
    this.options.onMessage(message);
    if (message.type === "frame" && this.begun) {
      this.answered = true;
      if (this.changed) this.change();
    }
  }

  /** @param {CloseEvent} event */
  #closed(event) {
    this.socket = null;
    clearTimeout(this.timer);
    const why = this.why || event.reason;
    if (event.code === 4401) { this.options.onChange("token", why); return; }
    this.refused = event.code === 1008;
    if (this.refused) { this.options.onChange("refused", why); return; }
    const busy = event.code === 1013 || event.code === 4429;
    this.options.onChange(busy ? "busy" : "lost", why);
    const wait = busy ? 5000 : this.wait;
    this.wait = Math.min(5000, this.wait * 2);
    this.timer = setTimeout(() => this.options.again(), wait);
  }
}
