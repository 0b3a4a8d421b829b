// The picture under a playhead: what is later than the playhead is veiled, and on each lane stands
// until when its instance trusts its lease just then, and until when the store keeps the record.

/**
 * @typedef {{kind: string, lane: number, at: number, who?: number, text: string}} LabEvent
 * @typedef {{lane: number, at: number, trusted_until: number, kept_until: number}} TrustWindow
 * @typedef {{from: number, to: number, left: number, right: number, top: number,
 *            lane_height: number}} View
 * @typedef {{address: string, title?: string, before?: string, after?: string, length: number,
 *            seed: number, verdict: {broken: boolean, text: string}, lanes: {kind: string}[],
 *            spans: {kind: string, lane: number, from: number, to: number}[],
 *            events: LabEvent[], windows: TrustWindow[], view: View, picture: string}} Run
 */

const namespace = "http://www.w3.org/2000/svg";

/**
 * @param {string} tag
 * @param {Record<string, string | number>} attributes
 */
function shape(tag, attributes) {
  const made = document.createElementNS(namespace, tag);
  for (const [name, value] of Object.entries(attributes)) {
    made.setAttribute(name, String(value));
  }
  return made;
}

export class Player {
  /**
   * @param {HTMLElement} place
   * @param {(at: number) => void} moved called after every move of the playhead
   */
  constructor(place, moved) {
    this.place = place;
    this.moved = moved;
    this.at = 0;
    this.playing = false;
    this.last = 0;
    /** @type {Run | null} */
    this.run = null;
    this.veil = shape("rect", {fill: "#ffffff", "fill-opacity": 0.72, "pointer-events": "none"});
    this.head = shape("line", {stroke: "#1a1a1a", "stroke-width": 2, "pointer-events": "none"});
    this.trust = shape("g", {"pointer-events": "none"});
  }

  /** @param {Run} run */
  show(run) {
    this.run = run;
    const parsed = new DOMParser().parseFromString(run.picture, "image/svg+xml").documentElement;
    const svg = document.importNode(parsed, true);
    svg.append(this.veil, this.trust, this.head);
    this.place.replaceChildren(svg);
    this.move(Math.min(this.at, run.length));
  }

  /** @param {number} at */
  x(at) {
    const view = /** @type {Run} */ (this.run).view;
    const share = (at - view.from) / (view.to - view.from);
    return view.left + Math.min(Math.max(share, 0), 1) * (view.right - view.left);
  }

  /** @param {number} at */
  move(at) {
    if (this.run === null) {
      return;
    }
    const {view, lanes, length} = this.run;
    this.at = Math.min(Math.max(at, 0), length);
    const x = this.x(this.at);
    const height = lanes.length * view.lane_height;
    for (const [name, value] of Object.entries(
        {x, y: view.top, width: Math.max(view.right - x, 0) + 1, height})) {
      this.veil.setAttribute(name, String(value));
    }
    for (const [name, value] of Object.entries(
        {x1: x, x2: x, y1: view.top - 4, y2: view.top + height})) {
      this.head.setAttribute(name, String(value));
    }
    this.draw_trust();
    this.moved(this.at);
  }

  // What the instances trust at the playhead: solid to the end of trust, dashed to the TTL.
  draw_trust() {
    const {view, windows, spans} = /** @type {Run} */ (this.run);
    this.trust.replaceChildren();
    const believing = new Set(spans.filter((span) => span.kind === "believes" &&
        span.from <= this.at && this.at < span.to).map((span) => span.lane));
    for (const lane of believing) {
      const now = windows.filter((w) => w.lane === lane && w.at <= this.at).pop();
      if (now === undefined) {
        continue;  // a wrong protocol: it trusts for ever
      }
      const y = view.top + lane * view.lane_height + 3;
      this.trust.append(
          shape("line", {x1: this.x(this.at), x2: this.x(now.trusted_until), y1: y, y2: y,
                         stroke: "#1a1a1a", "stroke-width": 3}),
          shape("line", {x1: this.x(now.trusted_until), x2: this.x(now.kept_until), y1: y, y2: y,
                         stroke: "#1a1a1a", "stroke-width": 3, "stroke-dasharray": "3 3"}));
    }
  }

  // The last event at or before the playhead, by its number; -1: there is none.
  event_here() {
    const events = this.run === null ? [] : this.run.events;
    let here = -1;
    for (let i = 0; i < events.length && events[i].at <= this.at + 0.0005; ++i) {
      here = i;
    }
    return here;
  }

  /** @param {number} by events, forth or back */
  step(by) {
    if (this.run !== null) {
      const last = this.run.events.length - 1;
      const next = Math.min(Math.max(this.event_here() + by, 0), last);
      if (next >= 0) {
        this.move(this.run.events[next].at);
      }
    }
  }

  /** @param {boolean} on */
  play(on) {
    if (this.run === null || on === this.playing) {
      return;
    }
    this.playing = on;
    if (on) {
      if (this.at >= this.run.length) {
        this.move(0);
      }
      this.last = performance.now();
      requestAnimationFrame((now) => this.tick(now));
    }
  }

  /** @param {number} now */
  tick(now) {
    if (!this.playing || this.run === null) {
      return;
    }
    const end = this.at + now - this.last;  // one second a second
    this.last = now;
    if (end >= this.run.length) {
      this.playing = false;
    }
    this.move(end);
    requestAnimationFrame((later) => this.tick(later));
  }
}
